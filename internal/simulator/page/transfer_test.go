package page

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestFileThatCannotBeImportedIsExplained(t *testing.T) {
	const is = "f.json is not an exported file: "
	for _, tt := range []struct{ name, content, want string }{
		{"a file that was cut", "{\n\"pods\": [\n", is + "the file is cut off: unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := snapshotOf(upload(t, "file", tt.content))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	_, _, err := snapshotOf(upload(t, "other", ""))
	if err == nil || !errors.Is(err, http.ErrMissingFile) {
		t.Errorf("without a file: %v", err)
	}
	got, _, err := snapshotOf(upload(t, "file", `{"pods": [{"metadata": {"name": "a"}, "spec": {"containers": [{}]}}]}`))
	if err != nil || len(got.Pods) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// upload is a form with a file in it.
func upload(t *testing.T, field, content string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, "f.json")
	testkit.Must(t, err)
	if _, err := part.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, form.Close())
	r := httptest.NewRequest(http.MethodPost, "/import", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}
