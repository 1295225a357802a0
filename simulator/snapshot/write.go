package snapshot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"
)

// WriteYAML writes a snapshot for people to read and for [Read], field by
// field, each object for itself: the YAML of a large cluster takes many times its
// size while it is made.
func (s *Snapshot) WriteYAML(w io.Writer) error {
	out := bufio.NewWriter(w)
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		if err := writeField(out, name, fields.Field(i)); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return out.Flush()
}

func writeField(out *bufio.Writer, name string, field reflect.Value) error {
	if field.IsZero() {
		return nil
	}
	_, config := field.Interface().(json.RawMessage)
	if field.Kind() != reflect.Slice || config {
		fmt.Fprintf(out, "%s:\n", name)
		return writeValue(out, field.Interface(), "  ", "  ")
	}
	if field.Len() == 0 {
		fmt.Fprintf(out, "%s: []\n", name)
		return nil
	}
	fmt.Fprintf(out, "%s:\n", name)
	for i := range field.Len() {
		if err := writeValue(out, field.Index(i).Addr().Interface(), "- ", "  "); err != nil {
			return err
		}
	}
	return nil
}

// writeValue writes an object, whose first line and whose others begin so.
func writeValue(out *bufio.Writer, value any, first, others string) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	if status, ok := object["status"].(map[string]any); ok && len(status) == 0 {
		delete(object, "status") // nothing is said of it
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		out.WriteString(first)
		out.Write(line) // an error stays until Flush
		first = others
	}
	return nil
}
