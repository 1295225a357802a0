package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// matching is which of the current nodes the regexes of a pod match.
type matching struct {
	Pattern, Exclude *string // nil where there is none
	Names            []string
	Of               int    // all nodes
	Problem          string // why a pattern is invalid
	Ignored          string // why the scheduler does not read them
}

// match is nil for a pod without a regex. Get returns the value of an annotation of the pod, or nil.
func (c *cluster) match(scheduler string, get func(key string) *string) (*matching, error) {
	keys, excluding := c.sim.Annotations(scheduler)
	m := &matching{Pattern: first(get, keys), Exclude: first(get, excluding)}
	if m.Pattern == nil && m.Exclude == nil {
		m.Pattern, m.Exclude = get(regex.Annotation), get(regex.ExcludeAnnotation)
		switch {
		case m.Pattern == nil && m.Exclude == nil:
			return nil, nil
		case len(keys) == 0:
			m.Ignored = fmt.Sprintf("no plugin of the scheduler “%s” reads a regex", scheduler)
		default:
			m.Ignored = fmt.Sprintf("the scheduler reads %s, not %s", strings.Join(keys, " and "), regex.Annotation)
		}
		return m, nil
	}
	var wrong *regex.PatternError
	var err error
	m.Names, m.Of, err = c.sim.Preview(m.Pattern, m.Exclude)
	if errors.As(err, &wrong) {
		m.Problem = wrong.Error()
		return m, nil
	}
	return m, err
}

// first is the first of the annotations that there is, or nil.
func first(get func(key string) *string, keys []string) *string {
	for _, key := range keys {
		value := get(key)
		if value != nil {
			return value
		}
	}
	return nil
}

// typed is the pod in the text of a form, the annotation that the form's regex field is about, and the text with the
// regex that was typed into that field. The field has a name only until the browser has the text.
func (p *page) typed(r *http.Request) (a *annotated, key, text string, err error) {
	text = r.FormValue("text")
	a, err = readAnnotated(text)
	if err != nil {
		return nil, "", text, err
	}
	keys, _ := p.sim.Annotations(a.Scheduler())
	key = keyOf(a, keys, regex.Annotation)
	if r.Form.Has("regex") {
		err = a.Set(key, r.Form.Get("regex"))
		text = a.String()
	}
	return a, key, text, err
}

// text is the text of a form, with the regex that was typed, if it has one.
func (p *page) text(r *http.Request) string {
	_, _, text, _ := p.typed(r) // which has a problem that is reported
	return text
}

// keyOf is the one of the annotations that the scheduler reads which the pod has, or the first.
func keyOf(a *annotated, keys []string, usual string) string {
	i := slices.IndexFunc(keys, func(key string) bool { return a.Get(key) != nil })
	switch {
	case i >= 0:
		return keys[i]
	case len(keys) > 0:
		return keys[0]
	}
	return usual
}

// preview is what the regex field of a pod's form shows.
type preview struct {
	Text          string // the YAML, with the regex that was typed
	Key, Regex    string // the annotation of the field
	Tone, Problem string
	Match         *matching
	Notes         []string
}

// preview lists the current nodes that match the regex of a pod in a form.
func (p *page) preview(w http.ResponseWriter, r *http.Request) error {
	out := preview{Tone: "quiet"}
	a, key, text, err := p.typed(r)
	out.Text, out.Key = text, key
	if err != nil {
		out.Problem = "No preview: " + err.Error()
	} else if err := out.fill(p, a); err != nil {
		return err
	}
	html, err := execute("preview", out)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(map[string]string{"Text": text, "Key": key, "Regex": out.Regex, "HTML": string(html)})
}

// fill adds the nodes that match, and what kubectl regex lint finds in the text.
func (v *preview) fill(p *page, a *annotated) (err error) {
	v.Regex = ptr.Deref(a.Get(v.Key), "")
	v.Match, err = p.cluster.match(a.Scheduler(), a.Get)
	switch m := v.Match; {
	case err != nil:
		return err
	case m == nil:
	case m.Problem != "":
		v.Tone = "failing"
	case m.Ignored != "" || len(m.Names) == 0:
		v.Tone = "pending"
	default:
		v.Tone = "fine"
	}
	_, excluding := p.sim.Annotations(a.Scheduler())
	l := lint.Linter{Policy: regex.Default}
	l.Policy.Annotation = v.Key
	l.Policy.ExcludeAnnotation = keyOf(a, excluding, regex.ExcludeAnnotation)
	l.Read("", []byte(v.Text))
	l.Sort()
	for _, f := range l.Findings {
		switch {
		case v.Match != nil && f.Message == v.Match.Problem:
			continue
		case !f.Warning:
			v.Tone = "failing"
		case v.Tone != "failing":
			v.Tone = "pending"
		}
		v.Notes = append(v.Notes, fmt.Sprintf("Line %d: %s", f.Line, f.Message))
	}
	return nil
}

// annotated is a text whose first pod, or pod template, has annotations to read and to set.
type annotated struct {
	objects []*yaml.RNode
	pod     *yaml.RNode
}

var errNoPod = errors.New("the text has no pod")

// readAnnotated parses a text. Values are wherever YAML may have them: in any quotes or none, over several lines,
// between braces, before a comment.
func readAnnotated(text string) (*annotated, error) {
	reader := kio.ByteReader{Reader: strings.NewReader(text), OmitReaderAnnotations: true, DisableUnwrapping: true}
	objects, err := reader.Read()
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		kind, _ := object.GetString("kind")
		template, ok := lint.Templates[kind]
		pod, err := object.Pipe(yaml.Lookup(strings.FieldsFunc(template, func(r rune) bool { return r == '.' })...))
		if ok && err == nil && pod != nil {
			return &annotated{objects, pod}, nil
		}
	}
	return nil, errNoPod
}

// Scheduler is the pod's schedulerName.
func (a *annotated) Scheduler() string {
	name, _ := a.pod.GetString("spec.schedulerName")
	return cmp.Or(name, v1.DefaultSchedulerName)
}

// Get is the value of an annotation of the pod, or nil.
func (a *annotated) Get(key string) *string {
	value, err := a.pod.Pipe(yaml.Lookup(yaml.MetadataField, yaml.AnnotationsField, key))
	if err != nil || value == nil {
		return nil
	}
	return &value.YNode().Value
}

// Set sets an annotation of the pod, or removes it with an empty value.
func (a *annotated) Set(key, value string) error {
	if value == "" {
		return a.pod.PipeE(yaml.ClearAnnotation(key))
	}
	err := errors.Join( // what is null would not get fields
		a.pod.PipeE(yaml.Get(yaml.MetadataField), yaml.FieldClearer{Name: yaml.AnnotationsField, IfEmpty: true}),
		a.pod.PipeE(yaml.FieldClearer{Name: yaml.MetadataField, IfEmpty: true}),
	)
	if err != nil {
		return err
	}
	at, err := a.pod.Pipe(yaml.LookupCreate(yaml.ScalarNode, yaml.MetadataField, yaml.AnnotationsField, key))
	if err != nil {
		return err
	}
	node := at.YNode() // which may have comments
	node.Tag = yaml.NodeTagString
	node.Style = yaml.SingleQuotedStyle
	node.Value = value
	return nil
}

// String is the text. It keeps comments, and indents by two.
func (a *annotated) String() string {
	text, err := kio.StringAll(a.objects)
	if err != nil {
		panic(err) // it was decoded from text
	}
	return text
}
