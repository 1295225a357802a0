package wasmhost

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/abi"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/answers"
)

// A guest whose answers are remembered sees nothing but the fields that it declares, or they
// would depend on more than they are remembered by.

// undeclared is the name of each node for a guest that does not declare it: some name it
// needs, to ask for its node.
const undeclared = "undeclared"

// declaredMeta is an object's metadata with the declared fields alone.
func declaredMeta(fields []abi.Field, of *metav1.ObjectMeta) (declared metav1.ObjectMeta) {
	for _, field := range fields {
		value, ok := answers.ValueOf(field, of)
		if !ok {
			continue
		}
		switch field.Kind {
		case abi.Namespace:
			declared.Namespace = value
		case abi.Name:
			declared.Name = value
		case abi.Label:
			metav1.SetMetaDataLabel(&declared, field.Key, value)
		case abi.Annotation:
			metav1.SetMetaDataAnnotation(&declared, field.Key, value)
		}
	}
	return declared
}

// declaredNode is a node with the declared fields alone. It implements abi.Message.
type declaredNode struct {
	fields []abi.Field
	node   *v1.Node
}

// name is the name under which the guest knows the node.
func (d *declaredNode) name() string {
	for _, field := range d.fields {
		if field.Kind == abi.Name {
			return d.node.Name
		}
	}
	return undeclared
}

func (d *declaredNode) Marshal() ([]byte, error) {
	node := &v1.Node{ObjectMeta: declaredMeta(d.fields, &d.node.ObjectMeta)}
	node.Name = d.name()
	return node.Marshal()
}

// nothingElse is what a guest may ask of the scheduler beside its pod and its node. It imports no
// function of the handle.
type nothingElse struct{ abi.Nobody }

func (nothingElse) Node(name string) (abi.Message, error) {
	return nil, refused("k8s.io/api node", fmt.Sprintf("the node %q", name))
}

func (nothingElse) Nodes() (abi.Message, error) {
	return nil, refused("k8s.io/api nodeList", "all nodes")
}

func (nothingElse) ImageStates(string) (any, error) {
	return nil, refused("k8s.io/scheduler nodeImageStates", "images on nodes")
}

func refused(function, what string) error {
	return fmt.Errorf("%s: the guest declares what it decides by (decides_by), and so sees the declared fields of its pod and its node alone, not %s; "+
		"without decides_by it sees all, and nothing is remembered", function, what)
}
