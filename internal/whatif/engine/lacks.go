package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
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

// LacksForNamespaces does so for kinds of which the input has objects, but perhaps not those of the namespaces of some pods.
func (e *Engine) LacksForNamespaces(effect string, pods []*v1.Pod, kinds ...string) {
	namespaces := sets.Set[string]{}
	for _, pod := range pods {
		namespaces.Insert(pod.Namespace)
	}
	e.lacksForNamespaces(effect, namespaces, kinds...)
}

func (e *Engine) lacksForNamespaces(effect string, namespaces sets.Set[string], kinds ...string) {
	for _, kind := range kinds {
		within, ok := e.within[kind]
		others := namespaces.Clone().Delete(within)
		if ok && len(others) > 0 {
			e.basis.Remedy = e.remedy
			e.basis.Lacks = append(e.basis.Lacks, report.Lack{Kinds: []string{kind + "s of namespace " + report.Few(sets.List(others))}, Effect: effect})
		}
	}
}

// dependency is what pods depend on by their objects. Each of the pods gets the effect if the input lacks one of the kinds.
type dependency struct {
	kinds  []string
	effect string
	of     func(pod *v1.Pod) bool
}

// LacksFor does so for what pods refer to, without which they get no node here.
func (e *Engine) LacksFor(pods []*v1.Pod) {
	e.Lacks("only nodes that the question adds are here", "Node")
	e.lacksRoom()
	e.lacksProfiles(pods)
	claimsDevices := func(pod *v1.Pod) bool { return len(pod.Spec.ResourceClaims) > 0 }
	if e.remedy == snapshot.KubectlGet && slices.ContainsFunc(pods, claimsDevices) { // pods of a manifest, which the input did not have
		e.remedy = snapshot.KubectlGetDevices
	}
	e.lacksOf(pods, []dependency{
		{
			[]string{"PersistentVolumeClaim", "PersistentVolume", "StorageClass"},
			"has a claim without a volume here, and gets no node",
			func(pod *v1.Pod) bool {
				return slices.ContainsFunc(snapshot.ClaimsOf(pod), func(claim string) bool { return e.lacksVolume(pod.Namespace, claim) })
			},
		},
		{[]string{"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}, "claims devices, and has none here", claimsDevices},
		{[]string{"PriorityClass"}, "names one, and is rejected here", func(pod *v1.Pod) bool {
			class := pod.Spec.PriorityClassName
			return class != "" && cluster.Get[*schedulingv1.PriorityClass](e.Cluster, "", class) == nil
		}},
		{[]string{"RuntimeClass"}, "names one, and is rejected here", func(pod *v1.Pod) bool {
			class := ptr.Deref(pod.Spec.RuntimeClassName, "")
			return class != "" && cluster.Get[*nodev1.RuntimeClass](e.Cluster, "", class) == nil
		}},
	})
}

// lacksRoom takes note of nodes on which no pod fits, since they do not say how many they take.
func (e *Engine) lacksRoom() {
	var names []string
	for _, node := range cluster.All[*v1.Node](e.Cluster) {
		if snapshot.LacksRoom(node) {
			names = append(names, node.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	e.basis.Lacks = append(e.basis.Lacks, report.Lack{
		Kinds: []string{"status.allocatable.pods of " + report.Plural(len(names), "node")}, Effect: "no pod fits there: " + report.Few(names),
	})
	if strings.HasPrefix(e.remedy, "kubectl ") {
		e.basis.Remedy = e.remedy
	}
}

// lacksAnnotations takes note of annotations that the configuration reads of pods, and of which a snapshot has digests.
func (e *Engine) lacksAnnotations(pods []*v1.Pod) {
	if e.digests == nil {
		return
	}
	for _, key := range e.Scheduler.Keys(pods) {
		if !slices.Contains(e.digests.Annotations, key) {
			e.basis.Lacks = append(e.basis.Lacks, report.Lack{
				Kinds: []string{"annotations " + key}, Effect: "the configuration reads them, and the snapshot has digests of them, unless it is saved with --annotation " + key,
			})
		}
	}
}

// lacksProfiles takes note of pods of schedulers that the configuration does not have.
func (e *Engine) lacksProfiles(pods []*v1.Pod) {
	names := map[string][]string{} // of pods, by scheduler
	for _, pod := range pods {
		of := cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName)
		if e.Scheduler.Kube.Profiles[of] == nil {
			names[of] = append(names[of], pod.Namespace+"/"+pod.Name)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(names)) {
		effect := "what that scheduler would do is not known, and its pods get no node here: " + report.Few(names[of]) + ". Give a configuration that has the profile"
		e.basis.Lacks = append(e.basis.Lacks, report.Lack{Kinds: []string{"profile " + of}, Effect: effect})
	}
}

// LacksForNodes does so for what decides which nodes pods get, besides what LacksFor has: what kube-scheduler's plugins read. Owners of pods
// are not in it: they are inferred from pods, and a report says so.
func (e *Engine) LacksForNodes(pods []*v1.Pod) {
	if len(pods) == 0 {
		return
	}
	e.Lacks("each node is empty here", "Pod")
	e.lacksAnnotations(pods)
	e.lacksOf(pods, []dependency{
		{[]string{"PodGroup"}, "is of one, and is scheduled alone here", func(pod *v1.Pod) bool { return minor.PodGroupOf(pod) != "" }},
		{[]string{"CSINode"}, "has volumes of a CSI driver, of which a node has no limit here", e.hasLimitedVolume},
		{[]string{"VolumeAttachment"}, "has volumes of a CSI driver with a limit, which volumes without a pod may use up", func(pod *v1.Pod) bool {
			return len(cluster.All[*storagev1.CSINode](e.Cluster)) > 0 && e.hasLimitedVolume(pod)
		}},
		{[]string{"CSIDriver", "CSIStorageCapacity"}, "is to get a volume, and how much storage is free is not known here", e.awaitsVolume},
	})
	e.lacksOf(append(slices.Clone(pods), e.Pods().Placed...), []dependency{
		{[]string{"Namespace"}, "selects namespaces in its affinity, and none has labels here", selectsNamespaces},
	})
	e.lacksOf(pods, []dependency{{[]string{"Service"}, "has no topologySpreadConstraints: its node depends on the Services that select it", e.isSpreadByServices}})
}

// LacksForPreemption does so where pods were preempted.
func (e *Engine) LacksForPreemption() {
	const effect = "preemption would rather spare pods that one protects"
	e.Lacks(effect, "PodDisruptionBudget")
	e.lacksForNamespaces(effect, e.namespaces, "PodDisruptionBudget")
}

// LacksForBudgets does so for what budgets count by.
func (e *Engine) LacksForBudgets(pods []*v1.Pod) {
	counted := func(pod *v1.Pod) bool {
		of := metav1.GetControllerOf(pod)
		return of != nil && e.unlisted.Has(of.Kind) && slices.ContainsFunc(cluster.In[*policyv1.PodDisruptionBudget](e.Cluster, pod.Namespace), func(b *policyv1.PodDisruptionBudget) bool {
			selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			byReplicas := b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String
			return err == nil && byReplicas && selector.Matches(labels.Set(pod.Labels))
		})
	}
	e.lacksOf(pods, []dependency{{
		[]string{"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"},
		"has a budget of the replicas that its owner wants: here as many as there are pods", counted,
	}})
}

func (e *Engine) lacksOf(pods []*v1.Pod, all []dependency) {
	for _, one := range all {
		if !e.unlisted.HasAny(one.kinds...) {
			continue
		}
		var names []string
		seen := sets.Set[string]{}
		for _, pod := range pods {
			name := pod.Namespace + "/" + pod.Name
			if one.of(pod) && !seen.Has(name) {
				seen.Insert(name)
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			e.Lacks(fmt.Sprintf("each of these pods %s: %s", one.effect, report.Few(names)), one.kinds...)
		}
	}
}

// claim is a claim of a pod, with what the cluster has for it. Each of the fields may be nil.
type claim struct {
	*v1.PersistentVolumeClaim
	volume *v1.PersistentVolume
	class  *storagev1.StorageClass
}

func (e *Engine) claimsOf(pod *v1.Pod) (all []claim) {
	for _, name := range snapshot.ClaimsOf(pod) {
		one := claim{PersistentVolumeClaim: cluster.Get[*v1.PersistentVolumeClaim](e.Cluster, pod.Namespace, name)}
		if one.PersistentVolumeClaim == nil {
			continue
		}
		one.volume = cluster.Get[*v1.PersistentVolume](e.Cluster, "", one.Spec.VolumeName)
		one.class = cluster.Get[*storagev1.StorageClass](e.Cluster, "", ptr.Deref(one.Spec.StorageClassName, ""))
		all = append(all, one)
	}
	return all
}

// hasLimitedVolume says whether a driver may limit how many volumes of a pod's kind a node can have.
func (e *Engine) hasLimitedVolume(pod *v1.Pod) bool {
	return slices.ContainsFunc(e.claimsOf(pod), func(c claim) bool {
		if c.volume == nil {
			return c.class != nil && c.class.Provisioner != noProvisioner
		}
		from := c.volume.Spec.PersistentVolumeSource // those in the tree are a driver's, too
		return from.CSI != nil || from.AWSElasticBlockStore != nil || from.GCEPersistentDisk != nil || from.AzureDisk != nil || from.Cinder != nil
	})
}

// noProvisioner is the provisioner of classes whose volumes people make.
const noProvisioner = "kubernetes.io/no-provisioner"

// awaitsVolume says whether a pod's node decides where a volume is made for it, and the driver may say where there is room.
func (e *Engine) awaitsVolume(pod *v1.Pod) bool {
	return slices.ContainsFunc(e.claimsOf(pod), func(c claim) bool {
		if e.bound.Has(cluster.NameOf(c).String()) || c.class == nil || c.class.Provisioner == noProvisioner || ptr.Deref(c.class.VolumeBindingMode, "") != storagev1.VolumeBindingWaitForFirstConsumer {
			return false
		}
		driver := cluster.Get[*storagev1.CSIDriver](e.Cluster, "", c.class.Provisioner)
		return driver == nil && e.unlisted.Has("CSIDriver") || driver != nil && ptr.Deref(driver.Spec.StorageCapacity, false)
	})
}

func selectsNamespaces(pod *v1.Pod) bool {
	affinity := ptr.Deref(pod.Spec.Affinity, v1.Affinity{})
	to, from := ptr.Deref(affinity.PodAffinity, v1.PodAffinity{}), ptr.Deref(affinity.PodAntiAffinity, v1.PodAntiAffinity{})
	terms := slices.Concat(to.RequiredDuringSchedulingIgnoredDuringExecution, from.RequiredDuringSchedulingIgnoredDuringExecution)
	for _, preferred := range slices.Concat(to.PreferredDuringSchedulingIgnoredDuringExecution, from.PreferredDuringSchedulingIgnoredDuringExecution) {
		terms = append(terms, preferred.PodAffinityTerm)
	}
	return slices.ContainsFunc(terms, func(term v1.PodAffinityTerm) bool {
		selector := term.NamespaceSelector
		return selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 // an empty one selects all
	})
}

// isSpreadByServices says whether the node of a pod may depend on Services: kube-scheduler spreads pods of one by default. Unless a profile
// insists on that, it decides of a pod only which node it gets.
func (e *Engine) isSpreadByServices(pod *v1.Pod) bool {
	labelled := false
	for key := range pod.Labels {
		labelled = labelled || !cluster.IsLabelOfController(key)
	}
	if len(pod.Spec.TopologySpreadConstraints) > 0 || !labelled {
		return false
	}
	now := cluster.Get[*v1.Pod](e.Cluster, pod.Namespace, pod.Name)
	pending := now != nil && now.Spec.NodeName == ""
	spreads, insists := defaultSpreading(e.config, cmp.Or(pod.Spec.SchedulerName, v1.DefaultSchedulerName))
	return spreads && (insists || !pending)
}

// defaultSpreading says whether a profile spreads pods without constraints of their own, and whether it leaves them pending otherwise.
func defaultSpreading(config *kubescheduler.Configuration, scheduler string) (spreads, insists bool) {
	for _, profile := range config.Profiles {
		for _, of := range profile.PluginConfig {
			if profile.SchedulerName != scheduler || of.Name != names.PodTopologySpread {
				continue
			}
			var args kubeschedulerv1.PodTopologySpreadArgs
			if json.Unmarshal(of.Args, &args) == nil && args.DefaultingType == kubeschedulerv1.ListDefaulting {
				return len(args.DefaultConstraints) > 0, slices.ContainsFunc(args.DefaultConstraints, func(c v1.TopologySpreadConstraint) bool {
					return c.WhenUnsatisfiable == v1.DoNotSchedule
				})
			}
		}
	}
	return true, false
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
