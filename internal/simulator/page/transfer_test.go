package page

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAFileThatCannotBeImportedIsToldOfInPlainWords(t *testing.T) {
	const is = "f.json is not an exported file: "
	for _, tt := range []struct{ name, content, want string }{
		{"a manifest", "apiVersion: v1\nkind: Pod\n", is + "no JSON: line 1: invalid character 'a' looking for beginning of value"},
		{"a file that was cut", "{\n\"pods\": [\n", is + "no JSON: line 3: unexpected end of JSON input"},
		{"a list", "[]", is + `is a list, but must have fields: take the [ ] away`},
		{"a field of another type", `{"pods": "all"}`, is + `pods: is text, but must be a list: begin each item with "- "`},
		{"a pod that is none", `{"pods": [{"spec": {"containers": {}}}]}`, is + `pods[0].spec.containers: is an object, but must be a list: put it into [ ]`},
		{"a quantity that is none", `{"nodes": [{"status": {"capacity": {"cpu": "lots"}}}]}`, is + `nodes[0].status.capacity[cpu]: is no quantity: write a number, perhaps with a unit directly after it, such as 2, 500m or 1Gi`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := snapshotOf(upload(t, "file", tt.content)); err == nil || err.Error() != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := snapshotOf(upload(t, "other", "")); err == nil || err.Error() != "choose a file first" {
		t.Errorf("without a file: %v", err)
	}
	if got, err := snapshotOf(upload(t, "file", `{"pods": [{"metadata": {"name": "a"}}]}`)); err != nil || len(got.Pods) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

// upload is a form with a file in it.
func upload(t *testing.T, field, content string) *http.Request {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(field, "f.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/import", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return r
}
