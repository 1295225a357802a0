package wasmhost

import (
	"encoding/json"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantity is a number of bytes, in JSON a quantity of Kubernetes: 256Mi.
type Quantity int64

// Duration is a time, in JSON as Go writes it: 1m30s. Below zero is none.
type Duration time.Duration

// forms says in words what these types look like.
var forms = map[reflect.Type]string{
	reflect.TypeFor[Quantity](): "a number of bytes such as 256Mi",
	reflect.TypeFor[Duration](): "a duration above 0s such as 500ms, or none",
}

func (q Quantity) String() string {
	return resource.NewQuantity(int64(q), resource.BinarySI).String()
}

// MarshalJSON writes what UnmarshalJSON reads.
func (q Quantity) MarshalJSON() ([]byte, error) { return json.Marshal(q.String()) }

// UnmarshalJSON reads a string or a number. The decoder adds the field's name to
// an error of this type alone.
func (q *Quantity) UnmarshalJSON(raw []byte) error {
	var read resource.Quantity
	if err := read.UnmarshalJSON(raw); err != nil || read.CmpInt64(math.MaxInt64) > 0 {
		return &json.UnmarshalTypeError{Value: string(raw), Type: reflect.TypeFor[Quantity]()}
	}
	*q = Quantity(read.Value())
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (d Duration) MarshalJSON() ([]byte, error) {
	if d < 0 {
		return json.Marshal("none")
	}
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads a string.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return &json.UnmarshalTypeError{Value: string(raw), Type: reflect.TypeFor[Duration]()}
	}
	if text == "none" {
		*d = NoCallTimeout
		return nil
	}
	if text == "" {
		*d = 0
		return nil
	}
	read, err := time.ParseDuration(text)
	if err != nil || read <= 0 {
		return &json.UnmarshalTypeError{Value: string(raw), Type: reflect.TypeFor[Duration]()}
	}
	*d = Duration(read)
	return nil
}
