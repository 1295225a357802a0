package abi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// Field is a field of a pod or a node that a guest decides by.
type Field struct {
	Object Object
	Part   Part
	// Key is that of a label or an annotation.
	Key string
}

// Object is what has a field.
type Object string

const (
	OfPod  Object = "pod"
	OfNode Object = "node"
)

// Part is a part of an object's metadata.
type Part string

const (
	Namespace  Part = "namespace"
	Name       Part = "name"
	Label      Part = "labels"
	Annotation Part = "annotations"
)

// String is how a guest declares the field, as the downward API and CEL write it.
func (f Field) String() string {
	text := string(f.Object) + ".metadata." + string(f.Part)
	if f.Part == Label || f.Part == Annotation {
		text += "['" + f.Key + "']"
	}
	return text
}

// fieldsThereAre are those that a guest can declare.
var fieldsThereAre = []Field{
	{OfPod, Namespace, ""}, {OfPod, Name, ""}, {OfPod, Label, "…"}, {OfPod, Annotation, "…"},
	{OfNode, Name, ""}, {OfNode, Label, "…"}, {OfNode, Annotation, "…"},
}

// parseField reads a field as a guest declares it.
func parseField(text string) (Field, error) {
	kind, key := text, ""
	if before, after, found := strings.Cut(text, "['"); found {
		key, found = strings.CutSuffix(after, "']")
		if found && key != "" && !strings.Contains(key, "'") {
			kind = before + "['…']"
		}
	}
	at := slices.IndexFunc(fieldsThereAre, func(f Field) bool { return f.String() == kind })
	if at < 0 {
		return Field{}, fmt.Errorf("there is no field %q; there are %s", text, strings.Join(declarations(fieldsThereAre), ", "))
	}
	return Field{fieldsThereAre[at].Object, fieldsThereAre[at].Part, key}, nil
}

func declarations(fields []Field) (texts []string) {
	for _, f := range fields {
		texts = append(texts, f.String())
	}
	return texts
}

// exportDecidesBy is a function () -> i64 that a guest may export to say what its
// verdicts depend on, all that PreFilter, Filter and Score answer: the address of a
// list of fields in the upper half, its size in bytes in the lower, each field ended
// by a zero byte. It is our addition: the upstream host ignores it.
const exportDecidesBy = "decides_by"

// maxFields bounds the size of the list, in bytes.
const maxFields = 64 << 10

// DecidesBy asks the guest what it decides by, each field once. If it does not say,
// declared is false.
func (i *Instance) DecidesBy() (fields []Field, declared bool, err error) {
	function := i.module.ExportedFunction(exportDecidesBy)
	if function == nil {
		return nil, false, nil
	}
	d := function.Definition()
	if len(d.ParamTypes()) > 0 || !slices.Equal(d.ResultTypes(), []api.ValueType{i64}) {
		return nil, false, fmt.Errorf("wasm: guest exports the wrong signature for func[%s]. should be () -> (i64)", exportDecidesBy)
	}
	i.In = In{}
	answer, err := i.call(exportDecidesBy, function)
	if err != nil {
		return nil, false, err
	}
	if fields, err = i.readFields(uint32(answer>>32), uint32(answer)); err != nil {
		return nil, false, fmt.Errorf("wasm: guest exports func[%s], but what it declares cannot be used: %w", exportDecidesBy, err)
	}
	return fields, true, nil
}

// readFields reads the list that is at an address.
func (i *Instance) readFields(at, size uint32) (fields []Field, err error) {
	if size > maxFields {
		return nil, fmt.Errorf("a list of %d bytes; at most %d are taken", size, maxFields)
	}
	list, ok := i.memory.Read(at, size)
	if !ok {
		return nil, fmt.Errorf("a list out of the guest's memory: %d bytes at %d", size, at)
	}
	for text := range strings.SplitAfterSeq(string(list), "\x00") {
		declaration, ended := strings.CutSuffix(text, "\x00")
		switch {
		case text == "": // behind the last
			continue
		case !ended:
			return nil, errors.New("no zero byte ends the last field")
		}
		field, err := parseField(declaration)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	return fields, nil
}
