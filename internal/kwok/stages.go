package kwok

import (
	"fmt"

	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
)

// stages are KWOK's own "fast" ones. Its heartbeat stage is left out: it writes
// each node's status every few seconds for a node lifecycle controller to read,
// and none runs here.
func stages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	byResource := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, raw := range []string{
		fast.DefaultNodeInit,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	} {
		stage, err := config.UnmarshalWithType[*internalversion.Stage](raw)
		if err != nil {
			return nil, fmt.Errorf("kwok stage: %w", err)
		}
		ref := stage.Spec.ResourceRef
		byResource[ref] = append(byResource[ref], stage)
	}
	return byResource, nil
}
