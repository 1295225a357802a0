package engine

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
)

// unlisted are the kinds that a snapshot may lack, and what to do for one that has them.
func unlisted(s *snapshot.Snapshot) (kinds sets.Set[string], remedy string) {
	kinds = sets.Set[string]{}
	if s.Source == nil {
		return kinds, ""
	}
	for _, kind := range snapshot.Kinds {
		if slices.Contains(s.Source.Unlisted, kind.Kind) && kind.Count(s) == 0 {
			kinds.Insert(kind.Kind)
		}
	}
	if !s.Source.Taken.IsZero() {
		return kinds, "The ClusterRole in docs/snapshot-clusterrole.yaml allows to list all kinds."
	}
	if slices.ContainsFunc(s.Pods, func(pod v1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }) {
		return kinds, snapshot.KubectlGetDevices
	}
	return kinds, snapshot.KubectlGet
}

// Lacks takes note of what could change an answer if the input lacks it, of some kinds. What matters most comes first.
func (e *Engine) Lacks(effect string, kinds ...string) {
	var all []string
	for _, kind := range kinds {
		plural := kind + "s"
		if strings.HasSuffix(kind, "s") {
			plural = kind + "es"
		}
		if e.unlisted.Has(kind) {
			all = append(all, plural)
		}
	}
	if len(all) > 0 {
		e.basis.Remedy = e.remedy
		e.basis.Lacks = append(e.basis.Lacks, report.Lack{Kinds: all, Effect: effect})
	}
}

// LacksFor does so for what pods refer to.
func (e *Engine) LacksFor(pods []*v1.Pod) {
	var claims, devices, priorities, runtimes []string
	for _, pod := range pods {
		name := pod.Namespace + "/" + pod.Name
		if slices.ContainsFunc(snapshot.ClaimsOf(pod), func(claim string) bool { return e.lacksVolume(pod.Namespace, claim) }) {
			claims = append(claims, name)
		}
		if len(pod.Spec.ResourceClaims) > 0 {
			devices = append(devices, name)
			if e.remedy == snapshot.KubectlGet { // pods of a manifest, which the input did not have
				e.remedy = snapshot.KubectlGetDevices
			}
		}
		class := pod.Spec.PriorityClassName
		if class != "" && cluster.Get[*schedulingv1.PriorityClass](e.Cluster, "", class) == nil {
			priorities = append(priorities, name)
		}
		class = ptr.Deref(pod.Spec.RuntimeClassName, "")
		if class != "" && cluster.Get[*nodev1.RuntimeClass](e.Cluster, "", class) == nil {
			runtimes = append(runtimes, name)
		}
	}
	for _, one := range []struct {
		pods   []string
		effect string
		kinds  []string
	}{
		{claims, "has a claim without a volume here, and gets no node", []string{"PersistentVolumeClaim", "PersistentVolume", "StorageClass"}},
		{devices, "claims devices, and has none here", []string{"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}},
		{priorities, "names one, and is rejected here", []string{"PriorityClass"}},
		{runtimes, "names one, and is rejected here", []string{"RuntimeClass"}},
	} {
		if len(one.pods) > 0 {
			e.Lacks(fmt.Sprintf("each of these pods %s: %s", one.effect, report.Few(one.pods)), one.kinds...)
		}
	}
}

// lacksVolume says whether a claim has no volume since its objects, or the class that would provision one, may not be in the input.
func (e *Engine) lacksVolume(namespace, name string) bool {
	claim := cluster.Get[*v1.PersistentVolumeClaim](e.Cluster, namespace, name)
	switch {
	case claim == nil:
		return e.unlisted.Has("PersistentVolumeClaim")
	case claim.Spec.VolumeName != "":
		return e.unlisted.Has("PersistentVolume") && cluster.Get[*v1.PersistentVolume](e.Cluster, "", claim.Spec.VolumeName) == nil
	case claim.Spec.StorageClassName == nil:
		return e.unlisted.Has("StorageClass")
	case *claim.Spec.StorageClassName == "":
		return false
	}
	return e.unlisted.Has("StorageClass") && cluster.Get[*storagev1.StorageClass](e.Cluster, "", *claim.Spec.StorageClassName) == nil
}
