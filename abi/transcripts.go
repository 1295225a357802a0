// Package abi reads and runs the transcripts beside it: what a host must do with guests, as data. README.md describes them,
// field by field, and docs/abi.md has the rules that they hold.
package abi

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Transcript is what is asked of guests, and what must come out, for a rule or a few.
type Transcript struct {
	Name, About, Why string
	Rules            []string
	Runs             []Run
}

// Run is one start of a guest, and its calls.
type Run struct {
	Module, Config, Error string
	LogSeverity           int32
	Waiting               []string
	Upstream              *string
	Calls                 []Call
}

// Call is one call of a hook.
type Call struct {
	Hook, Pod, Target, Node string
	Nodes, Victims          []string
	Statuses                map[string]int
	Scores                  map[string]int64
	Together                bool
	Answer                  Answer
	Upstream                *Answer
}

// Answer is what comes out of a call.
type Answer struct {
	Code, Reason, Nominated string
	Nodes, Events, Effects  []string
	Score, Wait             int64
	Scores                  map[string]int64
	AtLeast, AtMost, Times  int
	Reads                   any
}

// Objects are the pods and nodes of all transcripts, by name.
type Objects struct{ Pods, Nodes map[string]json.RawMessage }

// hooks are what a call may call. enqueue stands for the events that a host has from the start.
var hooks = []string{
	"enqueue", "prefilter", "addpod", "removepod", "filter", "postfilter", "prescore", "score", "normalizescore",
	"reserve", "unreserve", "permit", "prebind", "bind", "postbind",
}

// Read returns the transcripts of a folder, and their objects. Transcripts that ask nothing, or for what is not there, are errors.
func Read(folder string) (all []Transcript, objects Objects, err error) {
	files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	for _, file := range files {
		t := Transcript{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		text, err := os.ReadFile(file)
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		switch {
		case err != nil:
		case t.Name == "objects":
			err = decoder.Decode(&objects)
		default:
			err = decoder.Decode(&t)
			all = append(all, t)
		}
		if _, after := decoder.Token(); err == nil && after != io.EOF {
			err = errors.New("text after the JSON value")
		}
		if err != nil {
			return nil, objects, fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, t := range all {
		if err := t.check(folder, objects); err != nil {
			return nil, objects, fmt.Errorf("%s.json: %w", filepath.Join(folder, t.Name), err)
		}
	}
	if len(all) == 0 {
		return nil, objects, fmt.Errorf("no transcripts in %s", folder)
	}
	return all, objects, nil
}

func (t Transcript) check(folder string, o Objects) error {
	if len(t.Runs) == 0 {
		return errors.New("no runs")
	}
	for i, run := range t.Runs {
		if _, err := os.ReadFile(filepath.Join(folder, run.Module)); err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		if err := o.have("pod", run.Waiting); err != nil {
			return fmt.Errorf("run %d, waiting: %w", i+1, err)
		}
		for n, call := range run.Calls {
			if err := call.check(o); err != nil {
				return fmt.Errorf("run %d, call %d: %w", i+1, n+1, err)
			}
		}
	}
	return nil
}

func (c Call) check(o Objects) error {
	if !slices.Contains(hooks, c.Hook) {
		return fmt.Errorf("unknown hook %q: use one of %q", c.Hook, hooks)
	}
	for _, answer := range []*Answer{&c.Answer, c.Upstream} {
		if answer != nil && answer.Reads != nil && answer.Reason != "" {
			return errors.New("reads beside reason: use one of them")
		}
	}
	pods, nodes := slices.Clone(c.Victims), slices.Clone(c.Nodes)
	if c.Hook != "enqueue" {
		pods = append(pods, c.Pod)
	}
	if c.Target != "" {
		pods = append(pods, c.Target)
	}
	if c.Node != "" {
		nodes = append(nodes, c.Node)
	}
	return errors.Join(o.have("pod", pods), o.have("node", nodes))
}

// have returns an error if a pod or a node is not there.
func (o Objects) have(kind string, names []string) error {
	for _, name := range names {
		if o.of(kind)[name] == nil {
			return fmt.Errorf("objects.json has no %s %q", kind, name)
		}
	}
	return nil
}

func (o Objects) of(kind string) map[string]json.RawMessage {
	return map[string]map[string]json.RawMessage{"pod": o.Pods, "node": o.Nodes}[kind]
}

// Host is what runs the transcripts.
type Host struct {
	// Upstream is set of upstream's host, of which the transcripts say what it does otherwise.
	Upstream bool
	// Start starts the guest of a run, and returns what calls it.
	Start func(Run) (call func(Call) Answer, err error)
	// Protobuf encodes a "pod", a "node" or a list of "nodes".
	Protobuf func(kind string, object []byte) []byte
}

// Run returns what a host does otherwise than a transcript says.
func (h Host) Run(t Transcript, o Objects) (differences []string) {
	for i, run := range t.Runs {
		want, is := run.Error, ""
		if h.Upstream && run.Upstream != nil {
			want = *run.Upstream
		}
		call, err := h.Start(run)
		if err != nil {
			is = err.Error()
		}
		if (want == "") != (err == nil) || !matches(want, is) {
			differences = append(differences, fmt.Sprintf("run %d starts with %q, want %q", i+1, is, want))
		}
		if err != nil {
			continue
		}
		answers := answersOf(run.Calls, call)
		for n, c := range run.Calls {
			want := c.Answer
			differs := h.Upstream && c.Upstream != nil
			if differs {
				want = *c.Upstream
			}
			if !h.same(o, want, answers[n]) || differs && h.same(o, c.Answer, answers[n]) {
				is, _ := json.Marshal(answers[n])
				differences = append(differences, fmt.Sprintf("run %d, call %d, of %s: %.1000s", i+1, n+1, c.Hook, is))
			}
		}
	}
	return differences
}

// answersOf makes calls one after another, or at once where they say so.
func answersOf(calls []Call, call func(Call) Answer) []Answer {
	answers := make([]Answer, len(calls))
	var under sync.WaitGroup
	for n, c := range calls {
		if !c.Together {
			under.Wait()
		}
		under.Go(func() {
			defer func() {
				if recover() != nil {
					answers[n] = Answer{Code: "panic"}
				}
			}()
			answers[n] = call(c)
		})
		if !c.Together {
			under.Wait()
		}
	}
	under.Wait()
	return answers
}

// same reports whether an answer is what it must be.
func (h Host) same(o Objects, want, got Answer) bool {
	pattern, text := want.Reason, got.Reason
	if want.Reads != nil {
		read, err := hex.DecodeString(got.Reason)
		if err != nil {
			return false // in the host's own words
		}
		pattern, text = h.bytes(o, want.Reads), string(read)
	}
	lines := func(texts []string) string { return strings.Join(texts, "\n") }
	effects := slices.Repeat(want.Effects, max(1, want.Times))
	same := matches(pattern, text) && len(text) >= want.AtLeast && (want.AtMost == 0 || len(text) <= want.AtMost) &&
		matches(lines(want.Events), lines(got.Events)) && matches(lines(effects), lines(got.Effects)) && (want.Times == 0 || len(got.Effects) == want.Times)
	want.Reason, want.Reads, want.AtLeast, want.AtMost, want.Times, want.Events, want.Effects = got.Reason, nil, 0, 0, 0, got.Events, got.Effects
	return same && reflect.DeepEqual(want, got)
}

// bytes are what a guest reads: a text, the size of something, or an object.
func (h Host) bytes(o Objects, reads any) string {
	if text, ok := reads.(string); ok {
		return text
	}
	for kind, of := range reads.(map[string]any) {
		name, named := of.(string)
		object, _ := json.Marshal(of)
		switch {
		case kind == "size":
			return string(binary.LittleEndian.AppendUint32(nil, uint32(len(h.bytes(o, of)))))
		case kind == "nodes":
			var list struct{ Items []json.RawMessage }
			for _, name := range of.([]any) {
				list.Items = append(list.Items, o.Nodes[name.(string)])
			}
			object, _ = json.Marshal(list)
		case named:
			object = o.of(kind)[name]
		}
		return string(h.Protobuf(kind, object))
	}
	return ""
}

// matches reports whether a text is like a pattern, in which … is any text. A word between two … is a whole one.
func matches(pattern, text string) bool {
	pieces := strings.Split(pattern, "…")
	if len(pieces) == 1 {
		return pattern == text
	}
	isWord := func(i int) bool { return 0 < i && i < len(pieces)-1 && word.MatchString(pieces[i]) }
	like := "^(?s:" + regexp.QuoteMeta(pieces[0])
	for i, piece := range pieces[1:] {
		switch {
		case isWord(i) && isWord(i+1):
			like += "[^[:alnum:]](.*[^[:alnum:]])?"
		case isWord(i):
			like += "([^[:alnum:]].*)?"
		case isWord(i + 1):
			like += "(.*[^[:alnum:]])?"
		default:
			like += ".*"
		}
		like += regexp.QuoteMeta(piece)
	}
	return regexp.MustCompile(like + ")$").MatchString(text)
}

var word = regexp.MustCompile(`^\w+$`)
