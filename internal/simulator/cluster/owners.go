package cluster

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// owners are the kinds that are needed only where they own something: old replica
// sets are many. Each comes after what it may own.
var owners = []string{"ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Deployment"}

// withoutIdleOwners leaves out what owns nothing in the snapshot, and references
// to owners that are not in it.
func withoutIdleOwners(s *simulator.Snapshot) {
	owning, kept := map[types.UID]bool{}, map[types.UID]bool{}
	note := func(o metav1.Object) {
		for _, owner := range o.GetOwnerReferences() {
			owning[owner.UID] = true
		}
	}
	each(s, "Pod", note)
	for _, name := range owners {
		kind(name).Drop(s, func(o metav1.Object) bool { return !owning[o.GetUID()] })
		each(s, name, note)
		each(s, name, func(o metav1.Object) { kept[o.GetUID()] = true })
	}
	for _, name := range append([]string{"Pod"}, owners...) {
		each(s, name, func(o metav1.Object) {
			var here []metav1.OwnerReference
			for _, owner := range o.GetOwnerReferences() {
				if kept[owner.UID] {
					here = append(here, owner)
				}
			}
			o.SetOwnerReferences(here)
		})
	}
}

func each(s *simulator.Snapshot, name string, do func(metav1.Object)) { kind(name).Each(s, do) }

func kind(name string) simulator.Kind {
	for _, k := range simulator.Kinds {
		if k.Kind == name {
			return k
		}
	}
	panic("no kind of a snapshot: " + name)
}
