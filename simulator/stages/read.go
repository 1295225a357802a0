package stages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Source is a file, by the name that a person knows it by.
type Source struct {
	Name string
	Text []byte
}

// Problem is something about a file that a person should know.
type Problem struct {
	File string
	Line int // from 1
	// Stage and Field are empty where it is about the whole file.
	Stage, Field string
	Message      string
}

func (p Problem) String() string {
	parts := []string{fmt.Sprintf("%s:%d", p.File, p.Line)}
	if p.Stage != "" {
		parts = append(parts, "stage "+p.Stage)
	}
	if p.Field != "" {
		parts = append(parts, p.Field)
	}
	return strings.Join(append(parts, p.Message), ": ")
}

// Problems are an error that tells all of them, a line for each if there are more
// than one.
type Problems []Problem

func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].String()
	}
	all := fmt.Sprintf("%d mistakes", len(p))
	for _, problem := range p {
		all += "\n  " + problem.String()
	}
	return all
}

// Set are the stages of some files, by kind.
type Set struct {
	kinds   map[Ref]Lifecycle
	remarks []Problem
}

// Remarks tell what means nothing, though it may stand there. It may be called on nil.
func (s *Set) Remarks() []Problem {
	if s == nil {
		return nil
	}
	return s.remarks
}

// Of are the stages of a kind: nil if there are none, so that the kind is left
// alone. It may be called on nil.
func (s *Set) Of(kind Ref) Lifecycle {
	if s == nil {
		return nil
	}
	return s.kinds[kind]
}

// Kinds are those that there are stages of.
func (s *Set) Kinds() []Ref {
	if s == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(s.kinds), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
}

// Read reads files of stages. The error is Problems: all of them.
func Read(sources ...Source) (*Set, error) {
	r := reader{set: &Set{kinds: map[Ref]Lifecycle{}}, names: map[string]string{}}
	for _, source := range sources {
		before := len(r.names) + len(r.problems)
		r.source(source)
		if len(r.names)+len(r.problems) == before {
			r.problems = append(r.problems, Problem{File: source.Name, Line: 1, Message: "there are no stages in it"})
		}
	}
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return r.set, nil
}

type reader struct {
	set      *Set
	problems Problems
	names    map[string]string // where each stage is
}

// document is one of those in a file.
type document struct {
	file  string
	part  yamlcheck.Part
	typed yamlcheck.Text
	path  string // of the stage in it, ending with a dot, or empty
	stage string // its name, or empty
}

// problem is what is to be said of a field of the stage in a document.
func (d *document) problem(field, message string) Problem {
	return Problem{d.file, d.line(field), d.stage, field, message}
}

func (d *document) line(field string) int { return d.part.First + d.typed.Line(d.path+field) - 1 }

func (r *reader) source(source Source) {
	for _, part := range yamlcheck.Split(string(source.Text)) {
		d := &document{file: source.Name, part: part, typed: yamlcheck.Parse([]byte(part.Text))}
		if wrong := r.document(d); len(wrong) > 0 {
			r.problems = append(r.problems, wrong...)
		}
	}
}

func (r *reader) document(d *document) []Problem {
	if wrong := d.located(d.typed.Keys()); len(wrong) > 0 {
		return wrong
	}
	raw, err := yaml.YAMLToJSON([]byte(d.part.Text))
	if err != nil {
		return []Problem{d.noYAML(err)}
	}
	var is any
	if err := json.Unmarshal(raw, &is); err != nil || is == nil {
		return nil // nothing is in it
	}
	object, ok := is.(map[string]any)
	if !ok {
		return []Problem{d.problem("", "this is no stage: it has no fields")}
	}
	if kind := object["kind"]; kind == "List" && object["apiVersion"] == "v1" || kind == kindList && object["apiVersion"] == apiVersion {
		return r.list(d, raw, object)
	}
	if message := notStage(object); message != "" {
		return []Problem{d.problem("kind", message)}
	}
	d.stage = nameOf(object)
	if wrong := d.located(d.typed.Check(reflect.TypeFor[file]())); len(wrong) > 0 {
		return wrong
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return []Problem{d.problem("", err.Error())}
	}
	r.stage(d, &f)
	return nil
}

func (r *reader) list(d *document, raw []byte, object map[string]any) (wrong []Problem) {
	items, _ := object["items"].([]any)
	for i, item := range items {
		object, _ := item.(map[string]any)
		if object["kind"] == nil && object["apiVersion"] == nil {
			continue // as in a StageList of the API server
		}
		if message := notStage(object); message != "" {
			wrong = append(wrong, d.problem(fmt.Sprintf("items[%d].kind", i), message))
		}
	}
	if len(wrong) > 0 {
		return wrong
	}
	if wrong := d.located(d.typed.Check(reflect.TypeFor[list]())); len(wrong) > 0 {
		for i := range wrong {
			wrong[i].Stage = nameOfItem(items, wrong[i].Field)
		}
		return wrong
	}
	var l list
	if err := json.Unmarshal(raw, &l); err != nil {
		return []Problem{d.problem("", err.Error())}
	}
	for i := range l.Items {
		item := *d
		item.path = fmt.Sprintf("items[%d].", i)
		r.stage(&item, &l.Items[i])
	}
	return nil
}

// nameOf is what an object says that it is called, or empty.
func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// nameOfItem is the name of the one of a list that a field is of.
func nameOfItem(items []any, field string) string {
	var i int
	if _, err := fmt.Sscanf(field, "items[%d]", &i); err != nil || i >= len(items) {
		return ""
	}
	object, _ := items[i].(map[string]any)
	return nameOf(object)
}

// notStage says what an object is that is no stage, or nothing.
func notStage(object map[string]any) string {
	kind, version := object["kind"], object["apiVersion"]
	switch {
	case kind == nil:
		return "is missing: it must be Stage"
	case kind == kindStage && version == apiVersion:
		return ""
	case kind == kindStage:
		return fmt.Sprintf("is Stage of apiVersion %v, but only %s is read", version, apiVersion)
	}
	return fmt.Sprintf("is %v (%v), but only Stage (%s) is read: take it out of the file; kubectl apply makes objects", kind, version, apiVersion)
}

func (r *reader) stage(d *document, f *file) {
	d.stage = f.Metadata.Name
	at := fmt.Sprintf("%s:%d", d.file, d.line(""))
	if other, twice := r.names[d.stage]; twice && d.stage != "" {
		r.problems = append(r.problems, d.problem("metadata.name", "is the name of the stage of "+other+", too: give it another one, or take one of the two away"))
		return
	}
	r.names[cmp.Or(d.stage, at)] = at
	of := Ref{cmp.Or(f.Spec.ResourceRef.APIGroup, "v1"), f.Spec.ResourceRef.Kind}
	c := compiler{
		of:     of,
		wrong:  func(field, message string) { r.problems = append(r.problems, d.problem(field, message)) },
		remark: func(field, message string) { r.set.remarks = append(r.set.remarks, d.problem(field, message)) },
	}
	s := c.stage(f)
	s.Where = at
	r.set.kinds[of] = append(r.set.kinds[of], s)
}

// located are problems of the document in its file.
func (d *document) located(found yamlcheck.Problems) (all []Problem) {
	for _, p := range found {
		all = append(all, Problem{d.file, d.part.First + p.Line - 1, d.stage, p.Field, p.Message})
	}
	return all
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// noYAML has the line of the file, and not that of the document.
func (d *document) noYAML(err error) Problem {
	message, line := err.Error(), d.part.First
	if found := yamlLine.FindStringSubmatch(message); found != nil {
		n, _ := strconv.Atoi(found[1])
		line += n - 1
		message = yamlLine.ReplaceAllString(message, "")
	}
	message = strings.TrimPrefix(strings.TrimPrefix(message, "error converting YAML to JSON: "), "yaml: ")
	return Problem{File: d.file, Line: line, Message: "no YAML: " + message}
}
