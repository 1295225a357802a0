package cluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	extensions "k8s.io/api/extensions/v1beta1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/utils/ptr"
)

// What a file lacks of what Kubernetes' controllers go by is made here, so that they find each pod as they would have
// made it: the owners of pods, and the revisions of sets. An API server would store all of it.

func (c *Cluster) infer() error {
	if err := c.inferOwners(); err != nil {
		return err
	}
	c.inferDeployments()
	return c.inferRevisions()
}

// givenUID begins the UID of an object for which a snapshot has none. A Job has it in a label.
const givenUID = "of-"

// ofOneTemplate are the owners whose pods have one template at a time, and differ in what webhooks have added.
var ofOneTemplate = []string{"ReplicaSet", "StatefulSet", "ReplicationController"}

// inferOwners makes the owners that pods have and the snapshot does not, such as those of custom kinds. An owner wants the
// pods that it has, each as it is.
func (c *Cluster) inferOwners() error {
	pods := map[string][]*v1.Pod{} // by owner and template
	for _, pod := range All[*v1.Pod](c) {
		ref := metav1.GetControllerOf(pod)
		if ref == nil || ref.Kind == OfStatic || ref.Kind == "DaemonSet" || pod.DeletionTimestamp != nil {
			continue
		}
		owner := c.owner(pod.Namespace, ref)
		if owner != nil {
			job, isJob := owner.(*batchv1.Job)
			if isJob { // which may have got its selector only now
				pod = pod.DeepCopy()
				pod.Labels = labels.Merge(job.Spec.Selector.MatchLabels, pod.Labels)
				c.put(pod)
			}
			if ref.UID == "" || strings.HasPrefix(string(owner.GetUID()), givenUID) {
				c.own(pod, owner, ref.APIVersion, ref.Kind)
			}
			continue
		}
		key := pod.Namespace + "/" + ref.Kind + " " + ref.Name
		if !slices.Contains(ofOneTemplate, ref.Kind) {
			template, err := json.Marshal(templateOf(pod, nil))
			if err != nil {
				return fmt.Errorf("pod %s: %w", NameOf(pod), err)
			}
			key += " " + string(template)
		}
		pods[key] = append(pods[key], pod)
	}
	for _, key := range slices.Sorted(maps.Keys(pods)) {
		c.inferOwner(pods[key])
	}
	return nil
}

// own has an object be controlled by an owner.
func (c *Cluster) own(o, owner Object, version, kind string) {
	o = o.DeepCopyObject().(Object)
	refs := slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return ptr.Deref(r.Controller, false) })
	o.SetOwnerReferences(append(refs, metav1.OwnerReference{
		APIVersion: version, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}))
	c.put(o)
}

// byOwner is a label of the pods whose owner was inferred, by which it selects them.
const byOwner = "inferred-owner"

// IsLabelOfController says whether a controller gives a pod a label, by which no Service selects it.
func IsLabelOfController(key string) bool {
	return key == byOwner || slices.Contains([]string{
		appsv1.DefaultDeploymentUniqueLabelKey, appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	}, key)
}

// inferOwner makes the owner of pods. One that is no ReplicaSet or StatefulSet has a ReplicaSet between.
func (c *Cluster) inferOwner(pods []*v1.Pod) {
	ref := *metav1.GetControllerOf(pods[0])
	ref.UID = types.UID(cmp.Or(string(ref.UID), givenUID+ref.Kind+" "+ref.Name))
	c.inferred(fmt.Sprintf("%s %s/%s", ref.Kind, pods[0].Namespace, ref.Name))
	by := map[string]string{byOwner: hashed(ref.Kind + "/" + ref.Name + "/" + pods[0].Name)}
	meta := metav1.ObjectMeta{Namespace: pods[0].Namespace, Name: ref.Name, UID: ref.UID, Generation: 1, Labels: by}
	selector := &metav1.LabelSelector{MatchLabels: by}
	template := templateOf(pods[0], by)
	replicas := ptr.To(int32(len(pods)))
	first, last := ordinals(ref.Name, pods)
	var owner Object
	switch {
	case ref.Kind == "StatefulSet" && first >= 0:
		set := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(last - first + 1)), Ordinals: &appsv1.StatefulSetOrdinals{Start: int32(first)},
			PodManagementPolicy: appsv1.ParallelPodManagement, Selector: selector, Template: template,
		}}
		claimByTemplate(set, pods[0].Name)
		owner = set
	case ref.Kind == "ReplicaSet" && c.deploymentOf(pods[0], ref.Name) != nil:
		owner, by = c.replicaSetOf(c.deploymentOf(pods[0], ref.Name), meta, replicas, pods[0]), nil
	default:
		deployment := c.WorkloadOf(pods[0])
		if ref.Kind != "ReplicaSet" {
			meta.OwnerReferences = []metav1.OwnerReference{ref}
			meta.UID = types.UID(fmt.Sprintf("%s's %s", ref.UID, by[byOwner]))
			if Get[*appsv1.ReplicaSet](c, meta.Namespace, meta.Name) != nil { // of its pods with another template
				meta.Name += "-" + by[byOwner]
			}
			ref.APIVersion, ref.Kind = appsv1.SchemeGroupVersion.String(), "ReplicaSet"
		} else if deployment.Kind == "Deployment" {
			meta.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: ref.APIVersion, Kind: deployment.Kind, Name: deployment.Name, UID: types.UID(givenUID + deployment.Name), Controller: ptr.To(true),
			}}
		}
		owner = &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: replicas, Selector: selector, Template: template}}
	}
	legacyscheme.Scheme.Default(owner)
	c.put(owner)
	for _, pod := range pods {
		pod = pod.DeepCopy()
		pod.Labels = labels.Merge(pod.Labels, by)
		c.own(pod, owner, ref.APIVersion, ref.Kind)
	}
}

// inferDeployments makes the Deployments that ReplicaSets with replicas have and the snapshot does not.
func (c *Cluster) inferDeployments() {
	const key = appsv1.DefaultDeploymentUniqueLabelKey
	for _, set := range All[*appsv1.ReplicaSet](c) {
		ref := metav1.GetControllerOf(set)
		if ref == nil || ref.Kind != "Deployment" || ptr.Deref(set.Spec.Replicas, 1) == 0 {
			continue
		}
		there := Get[*appsv1.Deployment](c, set.Namespace, ref.Name)
		if there != nil {
			if strings.HasPrefix(string(there.UID), givenUID) || ref.UID == "" {
				c.own(set, there, ref.APIVersion, ref.Kind)
			}
			continue
		}
		template := *set.Spec.Template.DeepCopy()
		selector := set.Spec.Selector.DeepCopy()
		delete(template.Labels, key)
		delete(selector.MatchLabels, key)
		meta := metav1.ObjectMeta{Namespace: set.Namespace, Name: ref.Name, UID: ref.UID, Generation: 1, Labels: map[string]string{byOwner: hashed(ref.Name)}}
		d := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: set.Spec.Replicas, Selector: selector, Template: template}}
		legacyscheme.Scheme.Default(d)
		c.put(d)
		c.inferred(fmt.Sprintf("Deployment %s/%s", d.Namespace, d.Name))
		labelled := set.DeepCopy()
		labelled.Labels = labels.Merge(labelled.Labels, template.Labels) // by which the Deployment finds it
		c.own(labelled, d, ref.APIVersion, ref.Kind)
	}
}

// isInferred says whether an object was made here.
func isInferred(o Object) bool { return o.GetLabels()[byOwner] != "" }

// inferred takes note of what was made here.
func (c *Cluster) inferred(what string) {
	if !slices.Contains(c.Inferred, what) {
		c.Inferred = append(c.Inferred, what)
	}
}

// deploymentOf is the Deployment of a ReplicaSet by the name of that and the label of its pods, or nil.
func (c *Cluster) deploymentOf(pod *v1.Pod, replicaSet string) *appsv1.Deployment {
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	name, ok := strings.CutSuffix(replicaSet, "-"+hash)
	if !ok || hash == "" {
		return nil
	}
	return Get[*appsv1.Deployment](c, pod.Namespace, name)
}

// replicaSetOf is as the controller of a Deployment has made it. The newest pods have the Deployment's template.
func (c *Cluster) replicaSetOf(d *appsv1.Deployment, meta metav1.ObjectMeta, replicas *int32, pod *v1.Pod) *appsv1.ReplicaSet {
	const key = appsv1.DefaultDeploymentUniqueLabelKey
	set := &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: replicas, Template: *d.Spec.Template.DeepCopy()}}
	newest := newestRevision(key, d.Spec.Template, slices.DeleteFunc(In[*v1.Pod](c, d.Namespace), func(other *v1.Pod) bool {
		return c.WorkloadOf(other) != Workload{"Deployment", d.Name}
	}))
	if newest != pod.Labels[key] {
		set.Spec.Template = templateOf(pod, nil)
	}
	set.Spec.Selector = metav1.CloneSelectorAndAddLabel(d.Spec.Selector, key, pod.Labels[key])
	metav1.SetMetaDataLabel(&set.Spec.Template.ObjectMeta, key, pod.Labels[key])
	set.Labels = set.Spec.Template.Labels
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	return set
}

// ordinals are the first and the last of the pods of a StatefulSet; the first is negative if a pod has none, or if more are
// missing in between than there are: a StatefulSet would create all of these.
func ordinals(set string, pods []*v1.Pod) (first, last int) {
	for i, pod := range pods {
		number, err := strconv.ParseUint(strings.TrimPrefix(pod.Name, set+"-"), 10, 20)
		if err != nil {
			return -1, -1
		}
		at := int(number)
		if i == 0 {
			first = at
		}
		first, last = min(first, at), max(last, at)
	}
	if last-first+1 > 2*len(pods) {
		return -1, -1
	}
	return first, last
}

// templateOf is the template from which a pod was made, as far as the pod tells.
func templateOf(pod *v1.Pod, more map[string]string) v1.PodTemplateSpec {
	made := asNew(pod)
	for _, label := range []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, appsv1.ControllerRevisionHashLabelKey, extensions.DaemonSetTemplateGenerationKey} {
		delete(made.Labels, label)
	}
	spec := &made.Spec
	spec.RestartPolicy, spec.ActiveDeadlineSeconds = v1.RestartPolicyAlways, nil // or no set of replicas may have it
	spec.Tolerations = slices.DeleteFunc(spec.Tolerations, isAdded)
	if ptr.Deref(spec.EnableServiceLinks, false) {
		spec.EnableServiceLinks = nil
	}
	if spec.ServiceAccountName == "default" {
		spec.ServiceAccountName, spec.DeprecatedServiceAccount = "", ""
	}
	if spec.Hostname == pod.Name { // by the controller of a StatefulSet
		spec.Hostname, spec.Subdomain = "", ""
	}
	return v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels.Merge(made.Labels, more), Annotations: made.Annotations}, Spec: *spec}
}

// isAdded says whether an API server adds a toleration to each pod.
func isAdded(t v1.Toleration) bool {
	return (t.Key == v1.TaintNodeNotReady || t.Key == v1.TaintNodeUnreachable) && ptr.Deref(t.TolerationSeconds, 0) == 300
}

// hasTemplate says whether a pod has all that is in a template, besides what was added to it since.
func hasTemplate(pod *v1.Pod, template v1.PodTemplateSpec) bool {
	is, err := json.Marshal(templateOf(pod, nil))
	if err != nil {
		return false
	}
	of, err := json.Marshal(template)
	if err != nil {
		return false
	}
	patched, err := strategicpatch.StrategicMergePatch(is, of, v1.PodTemplateSpec{})
	var was, now v1.PodTemplateSpec
	return err == nil && json.Unmarshal(is, &was) == nil && json.Unmarshal(patched, &now) == nil && apiequality.Semantic.DeepEqual(was, now)
}

// claimByTemplate has the pods of an inferred StatefulSet have claims of their own where one has.
func claimByTemplate(set *appsv1.StatefulSet, pod string) {
	spec := &set.Spec.Template.Spec
	spec.Volumes = slices.DeleteFunc(spec.Volumes, func(volume v1.Volume) bool {
		claim := volume.PersistentVolumeClaim
		if claim == nil || claim.ClaimName != volume.Name+"-"+pod {
			return false
		}
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: volume.Name}})
		return true
	})
}

// inferRevisions makes the revisions of StatefulSets and DaemonSets of which the file has none, by the labels of their pods.
func (c *Cluster) inferRevisions() error {
	const key = appsv1.ControllerRevisionHashLabelKey
	has := map[types.UID]bool{}
	for _, revision := range All[*appsv1.ControllerRevision](c) {
		owner := metav1.GetControllerOf(revision)
		if owner != nil {
			has[owner.UID] = true
		}
	}
	for _, set := range All[*appsv1.StatefulSet](c) {
		if has[set.UID] && !isInferred(set) {
			continue
		}
		set = set.DeepCopy()
		status := &set.Status
		pods := c.PodsOf(set.UID, set.Namespace)
		status.UpdateRevision = cmp.Or(status.UpdateRevision, newestRevision(key, set.Spec.Template, pods), set.Name+"-inferred")
		for _, pod := range pods { // of a rollout that has not ended
			if pod.Labels[key] != status.UpdateRevision {
				status.CurrentRevision = cmp.Or(status.CurrentRevision, pod.Labels[key])
			}
		}
		status.CurrentRevision = cmp.Or(status.CurrentRevision, status.UpdateRevision)
		c.put(set)
		if err := c.inferRevisionsOf(set, set.Spec.Template, "StatefulSet", status.UpdateRevision, ""); err != nil {
			return err
		}
	}
	for _, set := range All[*appsv1.DaemonSet](c) {
		pods := c.PodsOf(set.UID, set.Namespace)
		if set.Annotations[appsv1.DeprecatedTemplateGeneration] == "" { // or its next template has the number of that of its pods
			generation := newestRevision(extensions.DaemonSetTemplateGenerationKey, set.Spec.Template, pods)
			set = set.DeepCopy()
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, appsv1.DeprecatedTemplateGeneration, cmp.Or(generation, "1"))
			c.put(set)
		}
		if has[set.UID] {
			continue
		}
		of, generation := set.Annotations[appsv1.DeprecatedTemplateGeneration], extensions.DaemonSetTemplateGenerationKey
		latest := slices.DeleteFunc(pods, func(pod *v1.Pod) bool { return pod.Labels[generation] != "" && pod.Labels[generation] != of })
		current := cmp.Or(newestRevision(key, set.Spec.Template, latest), "inferred")
		if err := c.inferRevisionsOf(set, set.Spec.Template, "DaemonSet", current, set.Name+"-"); err != nil {
			return err
		}
	}
	return nil
}

// newestRevision is, of the revisions that some pods have in a label, the one of a template, or else that of the newest pod.
func newestRevision(label string, template v1.PodTemplateSpec, pods []*v1.Pod) string {
	slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return ByAge(b, a) })
	newest := ""
	for _, pod := range pods {
		revision := pod.Labels[label]
		if newest == "" {
			newest = revision
		}
		if revision != newest && revision != "" { // there are several
			at := slices.IndexFunc(pods, func(pod *v1.Pod) bool { return pod.Labels[label] != "" && hasTemplate(pod, template) })
			if at >= 0 {
				return pods[at].Labels[label]
			}
			break
		}
	}
	return newest
}

// PodsOf are the pods that an owner controls, by name.
func (c *Cluster) PodsOf(owner types.UID, namespace string) (pods []*v1.Pod) {
	for _, pod := range In[*v1.Pod](c, namespace) {
		ref := metav1.GetControllerOf(pod)
		if ref != nil && ref.UID == owner {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, ByName)
	return pods
}

func (c *Cluster) inferRevisionsOf(set Object, template v1.PodTemplateSpec, kind, current, prefix string) error {
	templates := map[string]v1.PodTemplateSpec{current: template}
	for _, pod := range c.PodsOf(set.GetUID(), set.GetNamespace()) {
		revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		_, known := templates[revision]
		switch {
		case revision == "":
			pod = pod.DeepCopy()
			metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.ControllerRevisionHashLabelKey, current)
			c.put(pod)
		case !known:
			templates[revision] = templateOf(pod, nil)
		}
	}
	if len(templates) > 1 {
		c.inferred(fmt.Sprintf("revisions of %s %s/%s", kind, set.GetNamespace(), set.GetName()))
	}
	for revision, of := range templates {
		data, err := revisionOf(of)
		if err != nil {
			return err
		}
		made := &appsv1.ControllerRevision{Revision: 1, Data: runtime.RawExtension{Raw: data}}
		made.Namespace, made.Name, made.Labels = set.GetNamespace(), prefix+revision, labels.Merge(template.Labels, nil)
		if kind == "DaemonSet" {
			made.Labels[appsv1.ControllerRevisionHashLabelKey] = revision
		}
		if revision == current {
			made.Revision = 2
		}
		c.stamp(made)
		c.own(made, set, appsv1.SchemeGroupVersion.String(), kind)
	}
	return nil
}

// revisionOf is what Kubernetes' controllers keep of a template, byte for byte: they compare it with what they would keep.
func revisionOf(template v1.PodTemplateSpec) ([]byte, error) {
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&template)
	if err != nil {
		return nil, fmt.Errorf("revision of a pod template: %w", err)
	}
	raw["$patch"] = "replace"
	return json.Marshal(map[string]any{"spec": map[string]any{"template": raw}})
}
