package stages

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Object is an object as stages see it. It is converted no more than once to each
// of the forms that expressions ask for, and not at all if none does.
type Object struct {
	metav1.Object // *v1.Pod, *v1.Node, or else *unstructured.Unstructured
	raw           []byte
	jq            any
}

// NewObject makes one of an object that nobody changes any more.
func NewObject(o metav1.Object) *Object { return &Object{Object: o} }

// JSON is the object as it is sent.
func (o *Object) JSON() ([]byte, error) {
	if o.raw != nil {
		return o.raw, nil
	}
	var err error
	if u, ok := o.Object.(*unstructured.Unstructured); ok {
		o.raw, err = json.Marshal(u.Object)
	} else {
		o.raw, err = json.Marshal(o.Object)
	}
	return o.raw, err
}

// forJQ has numbers as float64.
func (o *Object) forJQ() (any, error) {
	if o.jq != nil {
		return o.jq, nil
	}
	raw, err := o.JSON()
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(raw, &o.jq)
	return o.jq, err
}

// forTemplates has numbers as they stand, so that none is rounded. It is made anew
// each time: templates can change it.
func (o *Object) forTemplates() (any, error) {
	raw, err := o.JSON()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var data any
	if err := decoder.Decode(&data); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return data, nil
}

// forCEL is the object itself. Of a pod or a node CEL knows the type: a field that
// is not there is empty. For others it is an error to ask for one.
func (o *Object) forCEL() any {
	if u, ok := o.Object.(*unstructured.Unstructured); ok {
		return u.Object
	}
	return o.Object
}
