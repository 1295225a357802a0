package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm"
	"wasmkwokwizardry.io/regex-scheduling/extender/internal/wire"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// minimal is the part of an ExtenderArgs or ExtenderPreemptionArgs that a Request has.
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

	NodeNameToVictims, NodeNameToMetaVictims map[string]struct{}
}

type metadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
}

// free is memory without a limit.
func free(int64) error { return nil }

// texts are places where readers of JSON go wrong.
var texts = []string{
	``, ` `, `nul`, `nulL`, `trues`, `-`, `-0`, `01`, `1.`, `1.5e`, `1.5e+7`, `.5`, `+1`, `1 2`, `{} x`, "[\v1]",
	`"`, `"\`, `"\"`, `"\u12"`, `"\u12G4"`, `"\u12aF"`, `"\x"`, "\"a\nb\"", "\"\x01\"", "\"\x7f\"", "\"\xff\xfe\"", `"\ud83d\ude00"`, `"\ud83d"`,
	`[]`, `[ ]`, `[1,]`, `[,]`, `[1 2]`, `[1`, `[`, `]`, `[}`, `{}`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1]`, `{,}`, `{1:2}`, `{"a":1,"a":2}`,
	strings.Repeat("[", 9998) + strings.Repeat("]", 9998), strings.Repeat("[", 9999) + strings.Repeat("]", 9999),
}

// FuzzRead checks that Read accepts the JSON that encoding/json accepts and no
// other, reads it alike, and that the answers are JSON.
func FuzzRead(f *testing.F) {
	cases := testkit.Files(f, "../../../testdata/extender/golden/*.txtar")
	for _, path := range cases {
		archive, err := txtar.ParseFile(path)
		testkit.Must(f, err)
		for _, file := range archive.Files {
			if file.Name == "request.json" {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte(`{"Pod":{},"NodeNames":["a]","b"]}`))
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if json.Valid(body) && !jsontext.Value(bytes.ToLower(body)).IsValid() {
			return // a member is given twice: encoding/json merges some of them, Read takes the last
		}
		wrapped := slices.Concat([]byte(`{"Pod":{"spec":`), body, []byte(`}}`))
		_, err := wire.Read(wrapped, free)
		if errors.Is(err, wire.ErrLongName) || errors.Is(err, wire.ErrTooDeep) {
			return
		}
		valid := json.Valid(wrapped)
		if valid != (err == nil) {
			t.Fatalf("json.Valid says %v, Read %v of %.1000q", valid, err, wrapped)
		}
		r, err := wire.Read(body, free)
		if err != nil {
			return
		}
		compareWith(t, body, r)
	})
}

func compareWith(t *testing.T, body []byte, r *wire.Request) {
	if !json.Valid(body) {
		t.Fatalf("this is no JSON: %q", body)
	}
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
	switch {
	case want.Nodes != nil:
	case want.NodeNames != nil:
		names = *want.NodeNames
	case want.NodeNameToVictims != nil:
		names = slices.Sorted(maps.Keys(want.NodeNameToVictims))
	default:
		names = slices.Sorted(maps.Keys(want.NodeNameToMetaVictims))
	}
	if !slices.Equal(names, r.Names) {
		t.Errorf("names %q, encoding/json reads %q", r.Names, names)
	}
	if r.Pod.Name != want.Pod.Metadata.Name || len(r.Pod.Annotations) != len(want.Pod.Metadata.Annotations) {
		t.Errorf("pod %+v, encoding/json reads %+v", r.Pod, want.Pod)
	}
	for which := range 4 {
		var text, more bytes.Buffer
		failures := failuresOf(len(r.Names), which)
		switch r.Form {
		case wire.Neither:
			return
		case wire.Victims:
			_ = r.Preempted(failures).Send(&text)
			more.WriteString("{}")
		default:
			_ = r.Filtered(failures).Send(&text)
			_ = r.Priorities(make([]int64, len(r.Names))).Send(&more)
		}
		if !json.Valid(text.Bytes()) || !json.Valid(more.Bytes()) {
			t.Errorf("an answer is not JSON: %q %q", &text, &more)
		}
	}
}

// failuresOf fails some of n nodes, in a way that depends on which.
func failuresOf(n, which int) []*algorithm.Failure {
	kinds := []*algorithm.Failure{nil, {Reason: "full \"<up>\""}, {Reason: "wrong", Unresolvable: true}}
	failures := make([]*algorithm.Failure, n)
	for i := range failures {
		failures[i] = kinds[(i*i+i*which+which)%(2+which%2)]
	}
	return failures
}
