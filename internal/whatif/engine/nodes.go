package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// AddNodes adds nodes like another, but ready and schedulable. They are so when the pods of DaemonSets have their places there.
func (e *Engine) AddNodes(ctx context.Context, like *v1.Node, names ...string) error {
	model := e.model(like)
	for _, name := range names {
		made := like.DeepCopy()
		made.Name, made.UID, made.ResourceVersion = name, "", ""
		made.Spec.ProviderID, made.Spec.PodCIDR, made.Spec.PodCIDRs = "", "", nil
		if made.Labels == nil {
			made.Labels = map[string]string{}
		}
		made.Labels[v1.LabelHostname] = name
		made.Spec.Unschedulable = true
		made.Spec.Taints = slices.DeleteFunc(made.Spec.Taints, passing)
		made.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue, LastTransitionTime: metav1.NewTime(e.clock.Now())}}
		if _, err := e.Cluster.Create(ctx, made); err != nil {
			return fmt.Errorf("a node like %s: %w", like.Name, err)
		}
	}
	if len(e.absent) > 0 {
		e.Cluster.Unmodelled("pods on new nodes of DaemonSets that are not in the file: " + report.Few(sets.List(e.absent)))
	}
	if err := e.Run(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := e.publish(ctx, model, name); err != nil {
			return fmt.Errorf("a node like %s: %w", like.Name, err)
		}
		if err := e.Cluster.Cordon(name, false); err != nil {
			return err
		}
	}
	return nil
}

// passing are taints of what a node is going through: Kubernetes', and those of autoscalers that are about to remove a node or have just made it.
func passing(t v1.Taint) bool {
	ofAutoscalers := []string{"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption", "karpenter.sh/unregistered"}
	return strings.HasPrefix(t.Key, v1.LabelNamespaceSuffixNode+"/") || slices.Contains(ofAutoscalers, t.Key)
}

// Suffixed is a name like another node's. It is cut where, as the value of the hostname's label, it would be too long.
func Suffixed(name, suffix string) string {
	most := max(0, validation.LabelValueMaxLength-len(suffix))
	return strings.TrimRight(name[:min(len(name), most)], "-._") + suffix
}

// model names the node of the cluster that another one is like: that of its name, which may be gone by now, or else that with most
// of its labels.
func (e *Engine) model(like *v1.Node) (name string) {
	if e.nodes.Has(like.Name) {
		return like.Name
	}
	most := -1
	for _, node := range cluster.All[*v1.Node](e.Cluster) {
		same := 0
		for key, value := range like.Labels {
			if node.Labels[key] == value {
				same++
			}
		}
		if same > most {
			name, most = node.Name, same
		}
	}
	return name
}

// publish gives a new node what drivers publish of another one: their limits and their devices.
func (e *Engine) publish(ctx context.Context, model, name string) error {
	drivers := &storagev1.CSINode{} // which a kubelet makes, also without drivers
	there := cluster.Get[*storagev1.CSINode](e.Cluster, "", model)
	if there != nil {
		drivers = there.DeepCopy()
	}
	drivers.ObjectMeta = metav1.ObjectMeta{Name: name, Annotations: drivers.Annotations}
	for i := range drivers.Spec.Drivers {
		drivers.Spec.Drivers[i].NodeID = name
	}
	if _, err := e.Cluster.Create(ctx, drivers); err != nil {
		return err
	}
	for _, slice := range cluster.All[*resourcev1.ResourceSlice](e.Cluster) {
		if ptr.Deref(slice.Spec.NodeName, "") != model {
			continue
		}
		made := slice.DeepCopy()
		made.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + slice.Name}
		made.Spec.NodeName = &name
		made.Spec.Pool.Name = name + strings.TrimPrefix("/"+slice.Spec.Pool.Name, "/"+model)
		if _, err := e.Cluster.Create(ctx, made); err != nil {
			return err
		}
	}
	return nil
}
