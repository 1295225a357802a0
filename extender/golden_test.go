package extender_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

var update = flag.Bool("update", false, "write the answers in testdata/extender/golden")

const golden = "../testdata/extender/golden"

// TestGoldenAnswers sends the request of each case to an extender with its configuration, if it has one, and compares what
// its verbs answer. The status is in the first line.
func TestGoldenAnswers(t *testing.T) {
	paths := testkit.Files(t, golden+"/*.txtar")
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			testkit.Must(t, err)
			files := map[string][]byte{}
			for _, file := range archive.Files {
				files[file.Name] = file.Data
			}
			config := loadConfig(t, "")
			if files["config.yaml"] != nil {
				config = configure(t, string(files["config.yaml"]))
			}
			handler := newExtender(t, config).Handler()
			verbs := []string{"filter", "prioritize"}
			if strings.HasPrefix(name, "preempt") {
				verbs = []string{"preempt"}
			}
			for _, verb := range verbs {
				w := post(handler, "/"+verb, bytes.TrimSuffix(files["request.json"], []byte("\n")))
				testkit.Equal(t, w.Header().Get("Content-Type"), "application/json", "%s: content type", verb)
				got := fmt.Sprintf("%d\n%s\n", w.Code, bytes.TrimSpace(w.Body.Bytes()))
				if *update {
					write(archive, verb, got)
				} else if got != string(files[verb]) {
					t.Errorf("%s (go test -update writes it):\ngot  %s\nwant %s", verb, got, files[verb])
				}
			}
			if *update {
				testkit.Must(t, os.WriteFile(path, txtar.Format(archive), 0o600))
			}
		})
	}
}

// write replaces a file of an archive, or adds it: a new case has its request alone.
func write(archive *txtar.Archive, name, text string) {
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			archive.Files[i].Data = []byte(text)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
}
