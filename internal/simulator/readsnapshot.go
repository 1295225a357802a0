package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// ReadSnapshot reads what [Simulator.Export] or kube-scheduler-simulator has
// written. Its errors speak of the file, and not of Go.
func ReadSnapshot(raw []byte) (*Snapshot, error) {
	var s Snapshot
	err := json.Unmarshal(raw, &s)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return &s, nil
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(raw[:min(int(syntax.Offset), len(raw))], []byte("\n"))
		return nil, fmt.Errorf("no JSON: line %d: %w", line, err)
	}
	if problems := yamlcheck.Parse(raw).Check(reflect.TypeFor[Snapshot]()); len(problems) > 0 {
		return nil, problems[:1] // JSON is YAML
	}
	return nil, err
}
