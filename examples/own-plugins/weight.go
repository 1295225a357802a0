package ownplugins

import (
	"context"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
)

// Weight is the name of a plugin that prefers the nodes with the highest number in a
// label.
const Weight = "Weight"

// WeightArgs are what a configuration says to the plugin.
type WeightArgs struct {
	metav1.TypeMeta `json:",inline"`
	// Label is the one with the number, from 0 to 100. A node without counts as 0.
	Label string `json:"label,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (a *WeightArgs) DeepCopyObject() runtime.Object {
	theirs := *a
	return &theirs
}

type weight struct{ label string }

// NewWeight makes the plugin.
func NewWeight(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	plugin := &weight{}
	if args, ok := args.(*WeightArgs); ok {
		plugin.label = args.Label
	}
	if plugin.label == "" {
		return nil, field.Required(field.NewPath("label"), "name the label of the nodes that has the number")
	}
	return plugin, validation.ValidateLabelName(plugin.label, field.NewPath("label")).ToAggregate()
}

// Name implements fwk.Plugin.
func (w *weight) Name() string { return Weight }

// Score implements fwk.ScorePlugin. It must be from 0 to 100.
func (w *weight) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	number, err := strconv.ParseInt(node.Node().Labels[w.label], 10, 64)
	if err != nil {
		return 0, nil
	}
	return min(max(number, 0), 100), nil
}

// ScoreExtensions implements fwk.ScorePlugin.
func (w *weight) ScoreExtensions() fwk.ScoreExtensions { return nil }

// SignPod implements fwk.SignPlugin: nothing of a pod matters, so all are alike.
func (w *weight) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}
