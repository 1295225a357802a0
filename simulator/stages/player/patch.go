package player

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// blank is an object of the kind without any field: of Kubernetes' own kinds in its
// type, which knows that times have no fractions of seconds.
func (do *performance) blank() any {
	if typed, err := scheme.Scheme.New(do.resource.kind); err == nil {
		return typed
	}
	return &map[string]any{}
}

// applied is what a patch makes of an object.
func applied(object []byte, kind types.PatchType, patch []byte, as any) ([]byte, error) {
	switch kind {
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		return operations.Apply(object)
	case types.MergePatchType:
		return jsonpatch.MergePatch(object, patch)
	case types.StrategicMergePatchType:
		return strategicpatch.StrategicMergePatch(object, patch, as)
	}
	return nil, fmt.Errorf("a patch of type %s cannot be tried", kind)
}

// ofVersion makes a patch fail on any other version of an object.
func ofVersion(version string, kind types.PatchType, patch []byte) ([]byte, error) {
	if kind == types.JSONPatchType {
		var operations []any
		if err := json.Unmarshal(patch, &operations); err != nil {
			return nil, err
		}
		is := map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": version}
		return json.Marshal(append([]any{is}, operations...))
	}
	var fields, metadata map[string]json.RawMessage
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, err
	}
	if of, ok := fields["metadata"]; ok {
		if err := json.Unmarshal(of, &metadata); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	var err error
	if metadata["resourceVersion"], err = json.Marshal(version); err != nil {
		return nil, err
	}
	if fields["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
