package extender_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the answers in testdata/extender/golden")

const golden = "../testdata/extender/golden"

// goldenCase is one file: perhaps a configuration, a request, and what its verbs
// answer, with the status in the first line.
type goldenCase struct {
	path    string
	archive *txtar.Archive
}

func goldenCases(t testing.TB) (all []goldenCase) {
	t.Helper()
	paths, err := filepath.Glob(golden + "/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		must(t, err)
		all = append(all, goldenCase{path, archive})
	}
	return all
}

// file is one of the archive's, or nil.
func (c goldenCase) file(name string) *txtar.File {
	for i := range c.archive.Files {
		if c.archive.Files[i].Name == name {
			return &c.archive.Files[i]
		}
	}
	return nil
}

// request is without the newline that every file in an archive has at its end.
func (c goldenCase) request() []byte {
	file := c.file("request.json")
	if file == nil {
		return nil
	}
	return bytes.TrimSuffix(file.Data, []byte("\n"))
}

func (c goldenCase) name() string { return strings.TrimSuffix(filepath.Base(c.path), ".txtar") }

func (c goldenCase) handler(t testing.TB) http.Handler {
	file := c.file("config.yaml")
	if file != nil {
		return newExtender(t, configure(t, string(file.Data))).Handler()
	}
	return newExtender(t, loadConfig(t, "")).Handler()
}

func (c goldenCase) verbs() []string {
	if strings.HasPrefix(c.name(), "preempt") {
		return []string{"preempt"}
	}
	return []string{"filter", "prioritize"}
}

// TestGoldenAnswers sends the request of each case to its verbs of an extender
// with its configuration, and compares status and answer.
func TestGoldenAnswers(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			if c.request() == nil {
				t.Fatalf("%s has no request.json", c.path)
			}
			handler := c.handler(t)
			for _, verb := range c.verbs() {
				w := post(handler, "/"+verb, c.request())
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: content type %q", verb, got)
				}
				if c.file(verb) == nil { // a new case has its request alone
					c.archive.Files = append(c.archive.Files, txtar.File{Name: verb})
				}
				got, file := fmt.Sprintf("%d\n%s\n", w.Code, bytes.TrimSpace(w.Body.Bytes())), c.file(verb)
				want := string(file.Data)
				if got != want && !*update {
					t.Errorf("%s (go test -update writes it):\ngot  %s\nwant %s", verb, got, want)
				}
				file.Data = []byte(got)
			}
			if *update {
				must(t, os.WriteFile(c.path, txtar.Format(c.archive), 0o600))
			}
		})
	}
}
