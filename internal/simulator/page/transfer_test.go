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
	_, _, err := snapshotOf(upload(t, "file", "{\n\"pods\": [\n"))
	testkit.ErrorHas(t, err, "f.json is not an exported file: the file is cut off: unexpected EOF")
	_, _, err = snapshotOf(upload(t, "other", ""))
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
	_, err = part.Write([]byte(content))
	testkit.Must(t, err)
	testkit.Must(t, form.Close())
	r := httptest.NewRequest(http.MethodPost, "/import", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}
