package cluster

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/provision"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// claimVolumes makes the claims of a pod's ephemeral volumes.
func (c *Cluster) claimVolumes(pod *v1.Pod) {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		name := snapshot.ClaimOf(pod, volume)
		if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil || Get[*v1.PersistentVolumeClaim](c, pod.Namespace, name) != nil {
			continue
		}
		template := volume.Ephemeral.VolumeClaimTemplate.DeepCopy()
		claim := &v1.PersistentVolumeClaim{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		claim.Namespace, claim.Name, claim.OwnerReferences = pod.Namespace, name, ownedBy(pod)
		if _, err := c.Create(context.Background(), claim); err != nil {
			c.Unmodelled(fmt.Sprintf("claim of pod %s/%s: %v", pod.Namespace, pod.Name, err))
		}
	}
}

// NotStarted is why a pod that has its node cannot start: the kubelet there is silent, or a disk of it is attached to another
// node, for a pod that is still there. Else it is empty.
func (c *Cluster) NotStarted(pod *v1.Pod) string {
	if pod.Spec.NodeName == "" {
		return ""
	}
	if pod.Status.Phase == v1.PodPending && c.silent(pod) {
		return "the kubelet of node " + pod.Spec.NodeName + " does not answer, and starts no pod"
	}
	for _, name := range snapshot.ClaimsOf(pod) {
		if !c.onOneNode(pod.Namespace, name) {
			continue
		}
		for _, other := range In[*v1.Pod](c, pod.Namespace) {
			if other.Spec.NodeName != "" && other.Spec.NodeName != pod.Spec.NodeName && other.Status.Phase == v1.PodRunning && slices.Contains(snapshot.ClaimsOf(other), name) {
				return fmt.Sprintf("Multi-Attach error for its claim %s: it is ReadWriteOnce, and attached to node %s for pod %s", name, other.Spec.NodeName, other.Name)
			}
		}
	}
	return ""
}

// onOneNode says whether the volume of a claim is a disk that can be attached to one node at a time.
func (c *Cluster) onOneNode(namespace, name string) bool {
	claim := Get[*v1.PersistentVolumeClaim](c, namespace, name)
	if claim == nil {
		return false
	}
	volume := Get[*v1.PersistentVolume](c, "", claim.Spec.VolumeName)
	if volume == nil || slices.ContainsFunc(volume.Spec.AccessModes, func(m v1.PersistentVolumeAccessMode) bool { return m != v1.ReadWriteOnce }) {
		return false
	}
	if volume.Spec.CSI == nil {
		return volume.Spec.AWSElasticBlockStore != nil || volume.Spec.GCEPersistentDisk != nil || volume.Spec.AzureDisk != nil
	}
	driver := Get[*storagev1.CSIDriver](c, "", volume.Spec.CSI.Driver)
	return driver == nil || ptr.Deref(driver.Spec.AttachRequired, true)
}

// detach has the pods start whose disks were attached for a pod that is gone.
func (c *Cluster) detach(gone *v1.Pod) {
	for _, name := range snapshot.ClaimsOf(gone) {
		c.startPending(slices.DeleteFunc(In[*v1.Pod](c, gone.Namespace), func(pod *v1.Pod) bool { return !slices.Contains(snapshot.ClaimsOf(pod), name) }))
	}
}

// startPending starts those of some pods that have a node, and that nothing keeps from starting any more.
func (c *Cluster) startPending(pods []*v1.Pod) {
	slices.SortFunc(pods, ByName)
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && pod.Status.Phase == v1.PodPending && c.NotStarted(pod) == "" {
			pod = pod.DeepCopy()
			c.start(pod)
			c.updateStatus(pod)
		}
	}
}

// class is the StorageClass of a claim, or nil.
func (c *Cluster) class(claim *v1.PersistentVolumeClaim) *storagev1.StorageClass {
	return Get[*storagev1.StorageClass](c, "", volumehelpers.GetPersistentVolumeClaimClass(claim))
}

func waits(class *storagev1.StorageClass) bool {
	return class != nil && ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer
}

const noProvisioner = "kubernetes.io/no-provisioner"

// bindAllAtOnce does so for all claims.
func (c *Cluster) bindAllAtOnce() {
	for _, claim := range All[*v1.PersistentVolumeClaim](c) {
		c.bindAtOnce(claim)
	}
}

// bindAtOnce gives a claim its volume, if it need not wait for a pod.
func (c *Cluster) bindAtOnce(claim *v1.PersistentVolumeClaim) {
	if claim.Spec.VolumeName != "" {
		volume := Get[*v1.PersistentVolume](c, "", claim.Spec.VolumeName)
		if volume != nil && !(volumehelpers.IsVolumeBoundToClaim(volume, claim) && volume.Spec.ClaimRef.UID != "" && claim.Annotations[volumehelpers.AnnBindCompleted] != "") {
			c.bindVolume(claim, volume)
		}
		return
	}
	class := c.class(claim)
	volume := c.match(claim, nil, nil)
	if volume != nil && (!waits(class) || volume.Spec.ClaimRef != nil) {
		c.bindVolume(claim, volume)
	} else if class != nil && !waits(class) && class.Provisioner != noProvisioner {
		if len(class.AllowedTopologies) == 0 {
			c.Unmodelled("choose a zone for volumes of StorageClass " + class.Name + " (their driver does, before the pod is scheduled)")
		}
		c.bindVolume(claim, provision.Volume(claim, class, class.Provisioner))
	}
}

// byUse is an index of volumes: by the claim that they refer to, or else by their class.
const byUse = "use"

func useOf(o any) ([]string, error) {
	volume := o.(*v1.PersistentVolume)
	ref := volume.Spec.ClaimRef
	if ref != nil {
		return []string{ref.Namespace + "/" + ref.Name}, nil
	}
	return []string{freeOf(volumehelpers.GetPersistentVolumeClass(volume))}, nil
}

func freeOf(class string) string { return "free volumes of " + class }

// match is the volume for a claim that a controller would take: one that refers to it,
// or the smallest that will do.
func (c *Cluster) match(claim *v1.PersistentVolumeClaim, node *v1.Node, taken map[string]*v1.PersistentVolume) *v1.PersistentVolume {
	var all []*v1.PersistentVolume
	for _, use := range []string{cache.MetaObjectToName(claim).String(), freeOf(volumehelpers.GetPersistentVolumeClaimClass(claim))} {
		found, _ := c.of(&v1.PersistentVolume{}).informer.table.ByIndex(byUse, use) // which there is
		all = append(all, typed[*v1.PersistentVolume](found)...)
	}
	slices.SortFunc(all, ByName)
	found, _ := volumehelpers.FindMatchingVolume(claim, all, node, taken, node != nil, true) // a selector that is none matches none
	return found
}

// bindVolume binds a claim and a volume, which is made if it is not there.
func (c *Cluster) bindVolume(claim *v1.PersistentVolumeClaim, volume *v1.PersistentVolume) {
	volume, claim = volume.DeepCopy(), claim.DeepCopy()
	if bound, _, err := volumehelpers.GetBindVolumeToClaim(volume, claim); err == nil {
		volume = bound
	}
	c.stamp(volume)
	volume.Status.Phase = v1.VolumeBound
	claim.Spec.VolumeName = volume.Name
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBindCompleted, "yes")
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBoundByController, "yes")
	claim.Status.Phase, claim.Status.AccessModes, claim.Status.Capacity = v1.ClaimBound, volume.Spec.AccessModes, volume.Spec.Capacity
	c.put(claim) // first, so that the volume is not looked for once more
	c.put(volume)
}

// BindVolumes gives the claims that bind with the first pod their volumes, as the scheduler
// and the drivers would between them once the pod has a node. Undo takes them away again.
func (c *Cluster) BindVolumes(pod *v1.Pod, nodeName string) (undo func()) {
	node := Get[*v1.Node](c, "", nodeName)
	claims := c.waiting(pod)
	if node == nil || len(claims) == 0 {
		return func() {}
	}
	var restore []func()
	taken := map[string]*v1.PersistentVolume{}
	for _, claim := range claims {
		class := c.class(claim)
		volume := c.match(claim, node, taken)
		if volume == nil && class.Provisioner != noProvisioner {
			volume = provision.Volume(claim, class, class.Provisioner)
			volume.Spec.NodeAffinity = provision.Around(node, Get[*storagev1.CSINode](c, "", nodeName), class.Provisioner)
		}
		if volume != nil {
			taken[volume.Name] = volume
			restore = append(restore, c.restore(claim), c.restore(volume))
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnSelectedNode, nodeName)
			c.bindVolume(claim, volume)
		}
	}
	return func() {
		for _, one := range slices.Backward(restore) {
			one()
		}
	}
}

// restore returns what makes the object of a name be as it is now.
func (c *Cluster) restore(o Object) func() {
	was := c.Current(o)
	return func() {
		if was == nil {
			c.Delete(o)
		} else {
			c.put(was.DeepCopyObject().(Object))
		}
	}
}

// waiting are copies of a pod's claims that bind when it has its node, the smallest first, as
// the scheduler takes them.
func (c *Cluster) waiting(pod *v1.Pod) (claims []*v1.PersistentVolumeClaim) {
	for _, name := range snapshot.ClaimsOf(pod) {
		claim := Get[*v1.PersistentVolumeClaim](c, pod.Namespace, name)
		if claim != nil && claim.Spec.VolumeName == "" && waits(c.class(claim)) {
			claims = append(claims, claim.DeepCopy())
		}
	}
	slices.SortStableFunc(claims, func(a, b *v1.PersistentVolumeClaim) int {
		return a.Spec.Resources.Requests.Storage().Cmp(*b.Spec.Resources.Requests.Storage())
	})
	return claims
}

// reclaim does with the volume of a claim that is gone what its policy says.
func (c *Cluster) reclaim(claim *v1.PersistentVolumeClaim) {
	volume := Get[*v1.PersistentVolume](c, "", claim.Spec.VolumeName)
	if volume == nil || volume.Spec.ClaimRef == nil || volume.Spec.ClaimRef.UID != claim.UID {
		return
	}
	if volume.Annotations[volumehelpers.AnnDynamicallyProvisioned] != "" && volume.Spec.PersistentVolumeReclaimPolicy == v1.PersistentVolumeReclaimDelete {
		c.drop(volume)
		return
	}
	volume = volume.DeepCopy()
	volume.Status.Phase = v1.VolumeReleased
	c.updateStatus(volume)
}
