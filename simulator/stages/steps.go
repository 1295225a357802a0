package stages

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Step is one thing that a stage does, or several: in the order of its fields.
type Step struct {
	Event      *Event
	Finalizers *Finalizers
	Delete     bool
	Patch      *Patch
	Apply      *Apply
}

// Event is one that is sent about the object.
type Event struct{ Type, Reason, Message string }

// Finalizers are changes of the object's.
type Finalizers struct {
	Add, Remove []string
	// Empty takes all away before any is added.
	Empty bool
}

// Change returns what finalizers become.
func (f *Finalizers) Change(old []string) []string {
	kept := []string{}
	for _, finalizer := range old {
		if !f.Empty && !slices.Contains(f.Remove, finalizer) {
			kept = append(kept, finalizer)
		}
	}
	for _, finalizer := range f.Add {
		if !slices.Contains(kept, finalizer) {
			kept = append(kept, finalizer)
		}
	}
	return kept
}

// Patch is of the object itself.
type Patch struct {
	Type        types.PatchType
	Subresource string // or empty
	As          string // the user who sends it, or empty
	root        string
	text        *text
}

// Data is the patch for an object.
func (p *Patch) Data(o *Object, in Cluster) ([]byte, error) {
	data, err := p.text.execute(o, in)
	if err != nil {
		return nil, err
	}
	if p.Type == types.JSONPatchType {
		return p.operations(data)
	}
	if p.root != "" {
		return json.Marshal(map[string]json.RawMessage{p.root: data})
	}
	if len(data) == 0 || data[0] != '{' {
		return nil, fmt.Errorf("the template makes no object with fields, but %s", short(data))
	}
	return data, nil
}

// operation is one of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
	From  string          `json:"from,omitempty"`
}

func (p *Patch) operations(data []byte) ([]byte, error) {
	var all []operation
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("the template makes no list of JSON patch operations, but %s", short(data))
	}
	if p.root == "" {
		return data, nil
	}
	for i := range all {
		all[i].Path = "/" + p.root + all[i].Path
	}
	return json.Marshal(all)
}

// Apply is of any object, which may not be there yet.
type Apply struct {
	Type        types.PatchType
	Subresource string // or empty
	As          string // the user who sends it, or empty
	text        *text
}

// Data is the object to apply.
func (a *Apply) Data(o *Object, in Cluster) ([]byte, error) {
	data, err := a.text.execute(o, in)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || data[0] != '{' {
		return nil, fmt.Errorf("the template makes no object with fields, but %s", short(data))
	}
	return data, nil
}

// short is the beginning of what is shown in a line.
func short(data []byte) string {
	const enough = 60
	if len(data) > enough {
		return string(data[:enough]) + "…"
	}
	return string(data)
}
