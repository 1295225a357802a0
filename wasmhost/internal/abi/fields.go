package abi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Field is a field of a pod or a node that a guest decides by.
type Field struct {
	// Kind is what of the object's metadata it is.
	Kind FieldKind
	// Key is that of a label or an annotation.
	Key string
	// text is the field as the guest wrote it.
	text string
}

// String is the field as guests write it, which is how the downward API and CEL do.
func (f Field) String() string { return f.text }

// FieldKind is a part of an object's metadata.
type FieldKind uint8

// The parts of the metadata that a guest can decide by.
const (
	Namespace FieldKind = iota
	Name
	Label
	Annotation
)

// Fields are what a guest decides by.
type Fields struct{ Pod, Node []Field }

// String lists the fields.
func (f *Fields) String() string {
	var texts []string
	for _, field := range slices.Concat(f.Pod, f.Node) {
		texts = append(texts, field.text)
	}
	return strings.Join(texts, ", ")
}

// maxFields is how many fields a guest may decide by, of pods and nodes together.
const maxFields = 100

// fieldForms are all fields that exist. K is the place of a key.
var fieldForms = []struct {
	form string
	node bool
	kind FieldKind
}{
	{"pod.metadata.namespace", false, Namespace},
	{"pod.metadata.name", false, Name},
	{"pod.metadata.labels['K']", false, Label},
	{"pod.metadata.annotations['K']", false, Annotation},
	{"node.metadata.name", true, Name},
	{"node.metadata.labels['K']", true, Label},
	{"node.metadata.annotations['K']", true, Annotation},
}

// parseFields reads what a guest declares: fields that each end with a zero byte.
func parseFields(declared string) (*Fields, error) {
	texts := strings.Split(declared, "\x00")
	last := len(texts) - 1
	if texts[last] != "" {
		return nil, fmt.Errorf("the last field, %q, does not end with a zero byte", short(texts[last]))
	}
	if last > maxFields {
		return nil, fmt.Errorf("%d fields are declared, but at most %d can be", last, maxFields)
	}
	fields := &Fields{}
	for _, text := range texts[:last] {
		if err := fields.add(text); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func (f *Fields) add(text string) error {
	for _, form := range fieldForms {
		before, after, keyed := strings.Cut(form.form, "K")
		key, ok := text, text == form.form
		if keyed {
			key, ok = strings.CutPrefix(text, before)
			if ok {
				key, ok = strings.CutSuffix(key, after)
			}
			ok = ok && key != "" && !strings.ContainsAny(key, `'"\`)
		}
		if !ok {
			continue
		}
		field := Field{Kind: form.kind, text: text}
		if keyed {
			field.Key = key
		}
		of := &f.Pod
		if form.node {
			of = &f.Node
		}
		if !slices.Contains(*of, field) {
			*of = append(*of, field)
		}
		return nil
	}
	return fmt.Errorf("the field %q does not exist: %w", short(text), errFields)
}

// errFields lists the fields that exist.
var errFields = func() error {
	var forms []string
	for _, form := range fieldForms {
		forms = append(forms, form.form)
	}
	return errors.New("there are " + strings.Join(forms, ", "))
}()

// short is the beginning of a text that a guest has written.
func short(text string) string {
	const limit = 100 // bytes
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}
