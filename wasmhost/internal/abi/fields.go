package abi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// Field is a field of a pod or a node that a guest decides by.
type Field struct {
	// Kind is what of the object's metadata it is.
	Kind FieldKind
	// Key is the key of a label or an annotation.
	Key string
	// text is the field as the guest wrote it.
	text string
}

// String is the field as guests write it, which is how the downward API and CEL do.
func (f Field) String() string { return f.text }

// FieldKind is a part of an object's metadata.
type FieldKind string

// The parts of the metadata that a guest can decide by.
const (
	Namespace  FieldKind = "namespace"
	Name       FieldKind = "name"
	Label      FieldKind = "labels"
	Annotation FieldKind = "annotations"
)

// Fields are what a guest decides by.
type Fields struct{ Pod, Node []Field }

// fieldForm is what all fields look like that exist, and fieldForms says so in words.
var fieldForm = regexp.MustCompile(`^(?:(pod)\.metadata\.(namespace)|(pod|node)\.metadata\.(name|(labels|annotations)\['([^'"\\]+)'\]))$`)

const fieldForms = "there are pod.metadata.namespace, pod.metadata.name, pod.metadata.labels['K'], pod.metadata.annotations['K'], " +
	"node.metadata.name, node.metadata.labels['K'], node.metadata.annotations['K']"

// parseFields reads what a guest declares: fields that each end with a zero byte.
func parseFields(declared string) (*Fields, error) {
	texts := strings.Split(declared, "\x00")
	last := len(texts) - 1
	if texts[last] != "" {
		return nil, fmt.Errorf("the last field, %.100q, does not end with a zero byte", texts[last])
	}
	if last > abi.MaxFields {
		return nil, fmt.Errorf("%d fields are declared, but at most %d can be", last, abi.MaxFields)
	}
	fields := &Fields{}
	for _, text := range texts[:last] {
		form := fieldForm.FindStringSubmatch(text)
		if form == nil {
			return nil, fmt.Errorf("the field %.100q does not exist: %s", text, fieldForms)
		}
		field := Field{Kind: FieldKind(cmp.Or(form[2], form[5], form[4])), Key: form[6], text: text}
		of := &fields.Pod
		if form[3] == "node" {
			of = &fields.Node
		}
		if !slices.Contains(*of, field) {
			*of = append(*of, field)
		}
	}
	return fields, nil
}
