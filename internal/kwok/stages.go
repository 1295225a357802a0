package kwok

import (
	"fmt"

	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
)

// noStage is for nodes, whose status is written by kubelets. KWOK wants a stage
// for nodes, or it would not know on which ones pods run; this one never plays.
const noStage = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: none}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchExpressions: [{key: .metadata.name, operator: DoesNotExist}]
  next: {}
`

// stages are KWOK's own "fast" ones for pods.
func stages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	byResource := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, raw := range []string{
		noStage,
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
