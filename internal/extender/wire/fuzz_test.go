package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/wire"
)

// minimal is the part of an ExtenderArgs that a Request has.
type minimal struct {
	Pod *struct {
		Metadata metadata `json:"metadata"`
	}
	Nodes *struct {
		Items []struct {
			Metadata metadata `json:"metadata"`
		} `json:"items"`
	}
	NodeNames *[]string
}

type metadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
}

// FuzzRead checks that what Read accepts is read as encoding/json reads it, the
// whole at once and in pieces, and that the answers are JSON.
func FuzzRead(f *testing.F) {
	cases, err := filepath.Glob("../../../testdata/extender/golden/*/request.json")
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := wire.Read(body)
		pieces, pieceErr := wire.ReadArriving(func(n int) []byte { return body[:min(n, len(body))] })
		if (err == nil) != (pieceErr == nil) {
			t.Fatalf("whole: %v, in pieces: %v", err, pieceErr)
		}
		if err != nil {
			return
		}
		compareWith(t, body, r)
		compareWith(t, body, pieces)
	})
}

func compareWith(t *testing.T, body []byte, r *wire.Request) {
	var want minimal
	if err := json.Unmarshal(body, &want); err != nil {
		return // a node's annotation, which Read does not look at
	}
	var names []string
	if want.Nodes != nil {
		for _, node := range want.Nodes.Items {
			names = append(names, node.Metadata.Name)
		}
	}
	if want.NodeNames != nil {
		names = append(names, *want.NodeNames...)
	}
	if r.Form != wire.Both && !slices.Equal(names, r.Names) {
		t.Errorf("names %q, encoding/json reads %q", r.Names, names)
	}
	if r.Pod.Name != want.Pod.Metadata.Name || len(r.Pod.Annotations) != len(want.Pod.Metadata.Annotations) {
		t.Errorf("pod %+v, encoding/json reads %+v", r.Pod, want.Pod)
	}
	if r.Form == wire.Full || r.Form == wire.Names {
		for which := range 4 {
			var text bytes.Buffer
			_, _ = r.Filtered(failuresOf(len(r.Names), which)).WriteTo(&text)
			if !json.Valid(text.Bytes()) {
				t.Errorf("the answer is not JSON: %q", &text)
			}
		}
	}
}
