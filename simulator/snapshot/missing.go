package snapshot

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// missing is what the objects of a snapshot refer to, what it does not have, and
// what an API server insists on: "kubectl get nodes,pods -A" lists none of it.
func (s *Snapshot) missing() *Snapshot {
	spaces, priorities, runtimes := map[string]v1.Namespace{}, map[string]schedulingv1.PriorityClass{}, map[string]nodev1.RuntimeClass{}
	for _, kind := range Kinds {
		kind.Each(s, func(o metav1.Object) {
			if name := o.GetNamespace(); name != "" && !IsSystemNamespace(name) {
				spaces[name] = v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			}
		})
	}
	for i := range s.Pods {
		spec := &s.Pods[i].Spec
		if name := spec.PriorityClassName; name != "" && spec.Priority != nil && !isSystemPriority(name) {
			priorities[name] = schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: *spec.Priority, PreemptionPolicy: spec.PreemptionPolicy}
		}
		if spec.RuntimeClassName != nil {
			runtimes[*spec.RuntimeClassName] = runtimeClass(*spec.RuntimeClassName, spec.Overhead)
		}
	}
	for i := range s.Namespaces {
		delete(spaces, s.Namespaces[i].Name)
	}
	for i := range s.PriorityClasses {
		delete(priorities, s.PriorityClasses[i].Name)
	}
	for i := range s.RuntimeClasses {
		delete(runtimes, s.RuntimeClasses[i].Name)
	}
	return &Snapshot{
		Namespaces:      values(spaces),
		PriorityClasses: values(priorities),
		RuntimeClasses:  values(runtimes),
	}
}

func runtimeClass(name string, overhead v1.ResourceList) nodev1.RuntimeClass {
	class := nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: "simulated"}
	if len(overhead) > 0 {
		class.Overhead = &nodev1.Overhead{PodFixed: overhead}
	}
	return class
}

func values[T any](of map[string]T) []T {
	all := make([]T, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[name])
	}
	return all
}

// noticesOfMissing say what is made of nothing but its name.
func (s *Snapshot) noticesOfMissing() []Notice {
	var notices []Notice
	missing := s.missing()
	for kind, reason := range map[string]string{
		"Namespace":     "not in the file: made without labels",
		"PriorityClass": "not in the file: made as its pods say",
		"RuntimeClass":  "not in the file: made as its pods say",
	} {
		kind := kindNamed(kind)
		kind.Each(missing, func(o metav1.Object) {
			notices = append(notices, Notice{About: kind.Title + " " + o.GetName(), Reason: reason})
		})
	}
	sortNotices(notices)
	return notices
}
