package page

import (
	"cmp"
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/lint"
)

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
