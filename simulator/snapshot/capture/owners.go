package capture

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// owners are pods, and the kinds that are needed only where they own something: old
// replica sets are many. Each comes after what it may own.
var owners = []string{"Pod", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Deployment"}

// withoutIdleOwners leaves out what owns nothing in the snapshot, and references
// to owners that are not in it.
func withoutIdleOwners(s *snapshot.Snapshot) {
	owning, kept := map[types.UID]bool{}, map[types.UID]bool{}
	for _, name := range owners {
		kind := snapshot.KindNamed(name)
		if name != "Pod" {
			kind.Drop(s, func(o snapshot.Object) bool { return !owning[o.GetUID()] })
		}
		for o := range kind.All(s) {
			kept[o.GetUID()] = name != "Pod"
			for _, owner := range o.GetOwnerReferences() {
				owning[owner.UID] = true
			}
		}
	}
	for _, name := range owners {
		for o := range snapshot.KindNamed(name).All(s) {
			o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return !kept[owner.UID] }))
		}
	}
}

// onlyTheirPods keeps controllers from making up for the pods of other nodes: sets
// of replicas are as large as the pods that are here, and deployments and stateful
// sets, which would not be content with that, are left out.
func onlyTheirPods(s *snapshot.Snapshot) {
	pods := map[types.UID]int32{}
	for i := range s.Pods {
		for _, owner := range s.Pods[i].OwnerReferences {
			pods[owner.UID]++
		}
	}
	for i := range s.ReplicaSets {
		s.ReplicaSets[i].Spec.Replicas = ptr.To(pods[s.ReplicaSets[i].UID])
		s.ReplicaSets[i].OwnerReferences = nil
	}
	for i := range s.ReplicationControllers {
		s.ReplicationControllers[i].Spec.Replicas = ptr.To(pods[s.ReplicationControllers[i].UID])
	}
	if len(s.Deployments)+len(s.StatefulSets) > 0 {
		s.Deployments, s.StatefulSets = nil, nil
		s.Source.Notes = append(s.Source.Notes, snapshot.Notice{
			About: "deployments, statefulsets", Reason: "left out, since they would make the pods anew that are on other nodes",
		})
	}
}
