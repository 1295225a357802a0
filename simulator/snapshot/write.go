package snapshot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// WriteYAML writes a snapshot for people to read and for [Read], field by
// field, each object for itself: the YAML of a large cluster takes many times its
// size while it is made.
func (s *Snapshot) WriteYAML(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, field := range snapshotFields() {
		name := nameOf(field)
		if err := writeField(out, name, reflect.ValueOf(s).Elem().FieldByIndex(field.Index)); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return out.Flush()
}

func writeField(out *bufio.Writer, name string, field reflect.Value) error {
	_, config := field.Interface().(json.RawMessage)
	switch {
	case field.IsZero():
		return nil
	case field.Kind() != reflect.Slice || config || field.Len() == 0:
		return writeValue(out, map[string]any{name: field.Interface()})
	}
	fmt.Fprintf(out, "%s:\n", name)
	for i := range field.Len() {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(field.Index(i).Addr().Interface())
		if err != nil {
			return err
		}
		if status, ok := object["status"].(map[string]any); ok && len(status) == 0 {
			delete(object, "status") // nothing is known of it
		}
		if err := writeValue(out, []any{object}); err != nil {
			return err
		}
	}
	return nil
}

func writeValue(out *bufio.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
