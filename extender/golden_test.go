package extender_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

var update = flag.Bool("update", false, "write the answers in testdata/extender/golden anew")

const golden = "../testdata/extender/golden"

// goldenCase is one file: perhaps a configuration, a request, and what both verbs
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
	if file := c.file("config.yaml"); file != nil {
		return newExtender(t, configure(t, string(file.Data))).Handler()
	}
	return newExtender(t, loadConfig(t, "")).Handler()
}

// TestGoldenAnswers sends the request of each case to both verbs of an extender
// with its configuration, and compares status and answer.
func TestGoldenAnswers(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.name(), func(t *testing.T) {
			if c.request() == nil {
				t.Fatalf("%s has no request.json", c.path)
			}
			handler := c.handler(t)
			for _, verb := range []string{"filter", "prioritize"} {
				w := post(handler, "/"+verb, c.request())
				if got := w.Header().Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: content type %q", verb, got)
				}
				if c.file(verb) == nil { // a new case has its request alone
					c.archive.Files = append(c.archive.Files, txtar.File{Name: verb})
				}
				got, file := fmt.Sprintf("%d\n%s\n", w.Code, bytes.TrimSpace(w.Body.Bytes())), c.file(verb)
				if want := string(file.Data); got != want && !*update {
					t.Errorf("%s (go test -update writes it anew):\ngot  %s\nwant %s", verb, got, want)
				}
				file.Data = []byte(got)
			}
			if *update {
				must(t, os.WriteFile(c.path, txtar.Format(c.archive), 0o600))
			}
		})
	}
}

// TestNamesGetTheVerdictOfFullNodes asks about the nodes of each case again, by
// their names.
func TestNamesGetTheVerdictOfFullNodes(t *testing.T) {
	compared := 0
	for _, c := range goldenCases(t) {
		var args extenderv1.ExtenderArgs
		if json.Unmarshal(c.request(), &args) != nil || args.Nodes == nil || args.NodeNames != nil {
			continue
		}
		full := verdictOf(t, c.handler(t), c.request())
		names := []string{}
		for _, node := range args.Nodes.Items {
			names = append(names, node.Name)
		}
		args.Nodes, args.NodeNames = nil, &names
		request, err := json.Marshal(args)
		must(t, err)
		if got := verdictOf(t, c.handler(t), request); !reflect.DeepEqual(got, full) && full.Error == "" {
			t.Errorf("%s: names get %+v, full nodes %+v", c.name(), got, full)
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("only %d cases have full nodes", compared)
	}
}

// verdictOf is the answer to filter, with names in place of full nodes.
func verdictOf(t *testing.T, handler http.Handler, request []byte) (result extenderv1.ExtenderFilterResult) {
	t.Helper()
	answer := post(handler, "/filter", request)
	if answer.Code != http.StatusOK {
		return extenderv1.ExtenderFilterResult{Error: answer.Body.String()}
	}
	must(t, json.Unmarshal(answer.Body.Bytes(), &result))
	if result.Nodes != nil {
		result.NodeNames = &[]string{}
		for _, node := range result.Nodes.Items {
			*result.NodeNames = append(*result.NodeNames, node.Name)
		}
		result.Nodes = nil
	}
	return result
}

// TestWhatPassesIsPassedOnByteForByte takes the nodes out of the answer again.
func TestWhatPassesIsPassedOnByteForByte(t *testing.T) {
	archive, err := txtar.ParseFile(golden + "/bytes-are-passed-on.txtar")
	must(t, err)
	request := goldenCase{archive: archive}.request()
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
	handlers := []http.Handler{newExtender(f, loadConfig(f, "")).Handler()}
	for _, c := range goldenCases(f) {
		f.Add(c.request())
		if c.name() == "lucky-full-nodes" {
			handlers = append(handlers, c.handler(f))
		}
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

// As extender/algorithm/README.md says: a new case is its configuration and its request.
func TestANewCaseGetsItsAnswersWritten(t *testing.T) {
	c := goldenCase{path: "new.txtar", archive: txtar.Parse([]byte("-- config.yaml --\nalgorithm: nop\n-- request.json --\n{}\n"))}
	if c.file("filter") != nil || string(c.request()) != "{}" || (goldenCase{archive: &txtar.Archive{}}).request() != nil {
		t.Error("a section that is not there is found")
	}
}
