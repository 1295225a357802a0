package page

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// maxPreview bounds the text of a preview, which the browser asks for as somebody types.
const maxPreview = 1 << 20

// maxNames bounds the names of nodes in a preview.
const maxNames = 12

// previewed is what the regex field of a pod's form shows.
type previewed struct {
	Text  string // the YAML, with the regex that was typed
	Key   string // the annotation of the field
	Regex string
	HTML  string // the preview itself
}

// typed is the text of a form. A regex that was typed into its field goes into the text: the field has
// a name only until the browser has that text.
func typed(r *http.Request, a *annotated, key string) (text string) {
	text = r.FormValue("text")
	if a == nil || !r.Form.Has("regex") {
		return text
	}
	a.Set(key, r.Form.Get("regex"))
	return a.String()
}

// text is the text of a form, with the regex that was typed, if it has one.
func (p *page) text(r *http.Request) string {
	a, err := readAnnotated(r.FormValue("text"))
	if err != nil {
		return r.FormValue("text") // which has a problem that is reported
	}
	keys, _ := p.sim.Annotations(cmp.Or(a.Scheduler(), v1.DefaultSchedulerName))
	return typed(r, a, keyOf(a, keys, regex.Annotation))
}

// keyOf is the one of the annotations that the scheduler reads which the pod has, or the first.
func keyOf(a *annotated, keys []string, usual string) string {
	for _, key := range keys {
		if a.Get(key) != nil {
			return key
		}
	}
	if len(keys) > 0 {
		return keys[0]
	}
	return usual
}

// preview lists the current nodes that match the regex of a pod in a form.
func (p *page) preview(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxPreview)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "No preview of more than 1 MB: "+err.Error()+". A regex may have 2,048 bytes.", http.StatusBadRequest)
		return nil
	}
	out := previewed{Text: r.FormValue("text")}
	view := previewView{Tone: "quiet"}
	a, err := readAnnotated(out.Text)
	if err != nil {
		view.Says = "No preview: " + err.Error()
	} else {
		scheduler := cmp.Or(a.Scheduler(), v1.DefaultSchedulerName)
		keys, excluding := p.sim.Annotations(scheduler)
		out.Key = keyOf(a, keys, regex.Annotation)
		out.Text = typed(r, a, out.Key)
		value := a.Get(out.Key)
		if value != nil {
			out.Regex = *value
		}
		policy := regex.Default
		policy.Annotation = out.Key
		policy.ExcludeAnnotation = keyOf(a, excluding, regex.ExcludeAnnotation)
		view, err = p.viewOf(a, scheduler, policy, len(keys) > 0)
		if err != nil {
			return err
		}
		view.warn(a, policy, out.Text)
	}
	html, err := execute("preview", view)
	if err != nil {
		return err
	}
	out.HTML = string(html)
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(out)
}

// previewView is a preview: a sentence, or the nodes.
type previewView struct {
	Tone, Says string
	Notes      []string
	Names      []string // some of the nodes that match
	Matches    int
	More       int // matches without a name here
	Total      int
	Excluding  bool
}

// viewOf previews a pod whose scheduler reads a regex in an annotation, and one of the nodes to exclude in another.
func (p *page) viewOf(a *annotated, scheduler string, policy regex.Policy, reads bool) (previewView, error) {
	key := policy.Annotation
	value, exclude := a.Get(key), a.Get(policy.ExcludeAnnotation)
	switch {
	case !reads:
		return previewView{Tone: "pending", Says: "No plugin of the scheduler “" + scheduler + "” reads a regex: any node may run the pod."}, nil
	case value == nil && a.Get(regex.Annotation) != nil:
		return previewView{Tone: "pending", Says: "The scheduler reads " + key + ", not " + regex.Annotation + ": any node may run the pod."}, nil
	case value == nil && exclude == nil:
		return previewView{Tone: "quiet", Says: "No regex: names do not limit this pod."}, nil
	}
	names, total, err := p.sim.Preview(value, exclude)
	var wrong *regex.PatternError
	if errors.As(err, &wrong) {
		return previewView{Tone: "failing", Says: wrong.Error()}, nil
	}
	shown := min(maxNames, len(names))
	view := previewView{
		Tone: "pending", Names: names[:shown], Matches: len(names), More: len(names) - shown, Total: total, Excluding: exclude != nil,
	}
	if len(names) > 0 {
		view.Tone = "fine"
	}
	return view, err
}

// warn adds what kubectl regex lint finds in the text.
func (v *previewView) warn(a *annotated, policy regex.Policy, text string) {
	l := lint.Linter{Policy: policy}
	l.Read("", []byte(text))
	l.Sort()
	for _, f := range l.Findings {
		switch {
		case f.Message == v.Says:
			continue
		case !f.Warning:
			v.Tone = "failing"
		case v.Tone != "failing":
			v.Tone = "pending"
		}
		v.Notes = append(v.Notes, fmt.Sprintf("Line %d: %s", f.Line, f.Message))
	}
	if a.Misplaced(policy.Annotation) {
		v.Notes = append(v.Notes, "Type the regex here to move it")
	}
}
