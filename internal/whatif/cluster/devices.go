package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// claimDevices makes the resource claims of a pod that are made from templates, and names
// them in its status.
func (c *Cluster) claimDevices(pod *v1.Pod) {
	var made []v1.PodResourceClaimStatus
	for _, of := range pod.Spec.ResourceClaims {
		if of.ResourceClaimTemplateName == nil || slices.ContainsFunc(pod.Status.ResourceClaimStatuses, func(s v1.PodResourceClaimStatus) bool { return s.Name == of.Name }) {
			continue
		}
		template := Get[*resourcev1.ResourceClaimTemplate](c, pod.Namespace, *of.ResourceClaimTemplateName)
		if template == nil {
			continue // the pod is pending until it is there
		}
		template = template.DeepCopy()
		claim := &resourcev1.ResourceClaim{ObjectMeta: template.Spec.ObjectMeta, Spec: template.Spec.Spec}
		claim.Namespace, claim.Name, claim.OwnerReferences = pod.Namespace, pod.Name+"-"+of.Name+"-"+strconv.Itoa(c.version), ownedBy(pod)
		if _, err := c.Create(context.Background(), claim); err != nil {
			c.Unmodelled(fmt.Sprintf("claim of pod %s/%s: %v", pod.Namespace, pod.Name, err))
			continue
		}
		made = append(made, v1.PodResourceClaimStatus{Name: of.Name, ResourceClaimName: ptr.To(claim.Name)})
	}
	if len(made) > 0 {
		pod = pod.DeepCopy()
		pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, made...)
		c.updateStatus(pod)
	}
}

// release takes away what only a pod that is gone needed: its own claims, and its place
// in those of others.
func (c *Cluster) release(pod *v1.Pod) {
	for _, name := range snapshot.ClaimsOf(pod) {
		claim := Get[*v1.PersistentVolumeClaim](c, pod.Namespace, name)
		if claim != nil && metav1.IsControlledBy(claim, pod) {
			c.drop(claim)
		}
	}
	for _, claim := range c.resourceClaims(pod) {
		claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, reservedFor(pod))
		if len(claim.Status.ReservedFor) == 0 {
			claim.Status.Allocation = nil
		}
		c.updateStatus(claim) // pods may be pending for it, also if it goes at once
		if metav1.IsControlledBy(claim, pod) {
			c.drop(claim)
		}
	}
}

// resourceClaims are copies of the resource claims of a pod, also of the one that the scheduler makes for its extended
// resources.
func (c *Cluster) resourceClaims(pod *v1.Pod) (claims []*resourcev1.ResourceClaim) {
	var names []string
	extended := pod.Status.ExtendedResourceClaimStatus
	if extended != nil {
		names = append(names, extended.ResourceClaimName)
	}
	for i := range pod.Spec.ResourceClaims {
		name, _, _ := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]) // which may not be there yet
		names = append(names, ptr.Deref(name, ""))
	}
	for _, name := range names {
		claim := Get[*resourcev1.ResourceClaim](c, pod.Namespace, name)
		if claim != nil {
			claims = append(claims, claim.DeepCopy())
		}
	}
	return claims
}

func reservedFor(pod *v1.Pod) func(resourcev1.ResourceClaimConsumerReference) bool {
	return func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID }
}

// reserve has the claims of a pod that runs be its own, which a file may not say.
func (c *Cluster) reserve(pod *v1.Pod) {
	for _, claim := range c.resourceClaims(pod) {
		if claim.Status.Allocation == nil || slices.ContainsFunc(claim.Status.ReservedFor, reservedFor(pod)) {
			continue
		}
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
		c.put(claim)
	}
}
