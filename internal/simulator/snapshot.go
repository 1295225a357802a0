package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Snapshot is what kube-scheduler-simulator exports and imports, field by field.
type Snapshot struct {
	Pods            []v1.Pod                     `json:"pods"`
	Nodes           []v1.Node                    `json:"nodes"`
	PVs             []v1.PersistentVolume        `json:"pvs"`
	PVCs            []v1.PersistentVolumeClaim   `json:"pvcs"`
	StorageClasses  []storagev1.StorageClass     `json:"storageClasses"`
	PriorityClasses []schedulingv1.PriorityClass `json:"priorityClasses"`
	// SchedulerConfig is a KubeSchedulerConfiguration. Without one the scheduler
	// is left as it is.
	SchedulerConfig json.RawMessage `json:"schedulerConfig"`
	Namespaces      []v1.Namespace  `json:"namespaces"`
}

// Export returns all resources, without what the cluster brings itself, and the
// scheduler's configuration as it was typed, in JSON.
func (s *Simulator) Export(ctx context.Context) (*Snapshot, error) {
	config, err := yaml.YAMLToJSON(s.SchedulerConfig())
	if err != nil {
		return nil, fmt.Errorf("export: scheduler configuration: %w", err)
	}
	out := &Snapshot{SchedulerConfig: config}
	if err := s.list(ctx, out); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return out, nil
}

func (s *Simulator) list(ctx context.Context, out *Snapshot) error {
	core, all := s.client.CoreV1(), metav1.NamespaceAll
	pods, err := core.Pods(all).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	nodes, err := core.Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	volumes, err := core.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	claims, err := core.PersistentVolumeClaims(all).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	classes, err := s.client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	priorities, err := s.client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	namespaces, err := core.Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	out.Pods, out.Nodes = export(pods.Items), export(nodes.Items)
	out.PVs, out.PVCs = export(volumes.Items), export(claims.Items)
	out.StorageClasses = export(classes.Items)
	out.PriorityClasses = export(without(priorities.Items, isSystemPriority))
	out.Namespaces = export(without(namespaces.Items, isSystemNamespace))
	return nil
}

// object is a pointer to a resource of type T.
type object[T any] interface {
	*T
	metav1.Object
}

// export takes out what only the API server's bookkeeping needs, a third of the
// file. An empty list stays a list.
func export[T any, P object[T]](items []T) []T {
	for i := range items {
		P(&items[i]).SetManagedFields(nil)
	}
	if items == nil {
		return []T{}
	}
	return items
}

// without drops what the cluster brings itself.
func without[T any, P object[T]](items []T, system func(name string) bool) []T {
	var kept []T
	for i := range items {
		if !system(P(&items[i]).GetName()) {
			kept = append(kept, items[i])
		}
	}
	return kept
}

// isSystemNamespace is true of the namespaces that every cluster has.
func isSystemNamespace(name string) bool {
	return strings.HasPrefix(name, "kube-") || name == metav1.NamespaceDefault
}

// isSystemPriority is true of the priority classes that every cluster has.
func isSystemPriority(name string) bool { return strings.HasPrefix(name, "system-") }
