package extender_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers in testdata/extender/golden anew")

const golden = "../../testdata/extender/golden"

// TestGoldenAnswers sends the request of each folder to both verbs of an
// extender with its configuration, and compares status and answer.
func TestGoldenAnswers(t *testing.T) {
	cases, err := filepath.Glob(golden + "/*/request.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			handler := newExtender(t, loadConfig(t, optional(dir+"/config.yaml"))).Handler()
			request := read(t, path)
			for _, verb := range []string{"filter", "prioritize"} {
				w := post(handler, "/"+verb, request)
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: content type %q", verb, got)
				}
				answer := fmt.Sprintf("%d\n%s\n", w.Code, bytes.TrimSpace(w.Body.Bytes()))
				compare(t, filepath.Join(dir, verb+".answer"), answer)
			}
		})
	}
}

func optional(path string) string {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return ""
	}
	return path
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := string(read(t, path)); got != want {
		t.Errorf("%s (go test -update writes it anew):\ngot  %s\nwant %s", path, got, want)
	}
}

// TestWhatPassesIsPassedOnByteForByte takes the nodes out of the answer again.
func TestWhatPassesIsPassedOnByteForByte(t *testing.T) {
	request := read(t, golden+"/bytes-are-passed-on/request.json")
	w := post(newExtender(t, loadConfig(t, "")).Handler(), "/filter", request)
	var answer struct {
		Nodes struct{ Items []json.RawMessage }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Nodes.Items) != 2 {
		t.Fatalf("%d nodes passed, want 2: %s", len(answer.Nodes.Items), w.Body)
	}
	for _, node := range answer.Nodes.Items {
		if !bytes.Contains(request, node) {
			t.Errorf("this was not in the request: %s", node)
		}
	}
	for _, piece := range []string{`"remainingItemCount":1e3`, `"after": "items"`, `"kind":"NodeList"`, `[0.10, -0e0, 1E+2, null, true ]`, `\u0041\/<&>`} {
		if !strings.Contains(w.Body.String(), piece) {
			t.Errorf("%s is missing in the answer: %s", piece, w.Body)
		}
	}
}

// FuzzVerbs sends anything to both verbs: each answer is JSON, with a status
// that a request can have.
func FuzzVerbs(f *testing.F) {
	cases, _ := filepath.Glob(golden + "/*/request.json")
	for _, path := range cases {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	handlers := []http.Handler{
		newExtender(f, loadConfig(f, "")).Handler(),
		newExtender(f, loadConfig(f, golden+"/chain-regex-then-lucky/config.yaml")).Handler(),
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		for _, verb := range []string{"/filter", "/prioritize"} {
			for _, handler := range handlers {
				w := post(handler, verb, request)
				if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
					t.Errorf("%s answers with status %d: %s", verb, w.Code, w.Body)
				}
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%s answers with content type %q", verb, got)
				}
				answer, _ := io.ReadAll(w.Body)
				if !json.Valid(answer) {
					t.Errorf("%s answers with something that is not JSON: %q", verb, answer)
				}
			}
		}
	})
}
