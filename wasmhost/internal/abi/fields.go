package abi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// Field is a field of a pod or a node that a guest decides by.
type Field struct {
	// Kind is what of the object it is.
	Kind FieldKind
	// Key is the key of a label or an annotation, or the name of a resource.
	Key string
	// text is the field as the guest wrote it.
	text string
}

// String is the field as guests write it, which is how the downward API and CEL do.
func (f Field) String() string { return f.text }

// FieldKind is a part of a pod or a node.
type FieldKind string

// The parts that a guest can decide by: of the metadata, and of what kube-scheduler counts.
const (
	Namespace   FieldKind = "namespace"
	Name        FieldKind = "name"
	Label       FieldKind = "labels"
	Annotation  FieldKind = "annotations"
	Requests    FieldKind = "requests"    // of a pod
	Allocatable FieldKind = "allocatable" // of a node
	Requested   FieldKind = "requested"   // by the pods on a node
	Pods        FieldKind = "pods"        // on a node
)

// Fields are what a guest decides by.
type Fields struct{ Pod, Node []Field }

// Amounts are the fields that kube-scheduler counts. There are none where f is nil.
func (f *Fields) Amounts() (amounts []Field) {
	if f == nil {
		return nil
	}
	for _, field := range slices.Concat(f.Pod, f.Node) {
		if field.Kind == Requests || field.Kind == Allocatable || field.DependsOnPods() {
			amounts = append(amounts, field)
		}
	}
	return amounts
}

// DependOnPods reports whether a node's fields change with the pods on it.
func (f *Fields) DependOnPods() bool {
	return slices.ContainsFunc(f.Node, Field.DependsOnPods)
}

// DependsOnPods reports whether a field of a node changes with the pods on it.
func (f Field) DependsOnPods() bool { return f.Kind == Requested || f.Kind == Pods }

var fieldParts = regexp.MustCompile(`^(pod|node)\.(?:[a-z]+\.)?([a-z]+)(?:\['([^'"\\]+)'\])?$`)

// parseField reads one field, of a pod or a node.
func parseField(text string) (object string, field Field, err error) {
	parts := fieldParts.FindStringSubmatch(text)
	if parts == nil || !slices.Contains(abi.Fields, strings.Replace(text, "['"+parts[3]+"']", "['K']", 1)) {
		return "", field, fmt.Errorf("the field %.100q does not exist: there are %s", text, strings.Join(abi.Fields, ", "))
	}
	return parts[1], Field{Kind: FieldKind(parts[2]), Key: parts[3], text: text}, nil
}

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
		object, field, err := parseField(text)
		if err != nil {
			return nil, err
		}
		of := &fields.Pod
		if object == "node" {
			of = &fields.Node
		}
		if !slices.Contains(*of, field) {
			*of = append(*of, field)
		}
	}
	return fields, nil
}
