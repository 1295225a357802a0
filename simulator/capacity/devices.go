package capacity

import (
	"context"
	"fmt"
	"slices"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
)

// devices are those that the claims of pods have, by the pods' names and the claims' in them.
type devices map[[2]string]*resourcev1.AllocationResult

// given are the devices that pods have now.
func (m *mover) given(ctx context.Context) (devices, error) {
	if !slices.ContainsFunc(m.pods, func(p *resident) bool { return len(p.Spec.ResourceClaims) > 0 }) {
		return nil, nil
	}
	pods, err := m.Client().CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := m.Client().ResourceV1().ResourceClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	named, all := devices{}, devices{}
	for _, claim := range claims.Items {
		named[[2]string{claim.Namespace, claim.Name}] = claim.Status.Allocation
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, claim := range pod.Spec.ResourceClaims {
			if name, _, err := resourceclaim.Name(pod, &claim); err == nil && name != nil {
				all[[2]string{pod.Namespace + "/" + pod.Name, claim.Name}] = named[[2]string{pod.Namespace, *name}]
			}
		}
	}
	return all, nil
}

// giveBack has pods that were made anew on their nodes have the devices that they had there.
func (m *mover) giveBack(ctx context.Context, pods []*resident) error {
	for _, p := range pods {
		for i := range p.Spec.ResourceClaims {
			had := m.had[[2]string{p.name, p.Spec.ResourceClaims[i].Name}]
			if had == nil || p.at == "" {
				continue
			}
			err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, side.DefaultPatience, true, func(ctx context.Context) (bool, error) {
				done, err := m.reserve(ctx, p, i, had)
				if apierrors.IsConflict(err) || apierrors.IsNotFound(err) { // others are at it
					err = nil
				}
				return done, err
			})
			if err != nil {
				return fmt.Errorf("give %s its device of claim %s back: %w", p.name, p.Spec.ResourceClaims[i].Name, err)
			}
		}
	}
	return nil
}

// reserve gives one of a pod's claims devices, as soon as there is that claim and the pod
// before it is known to have gone.
func (m *mover) reserve(ctx context.Context, p *resident, i int, had *resourcev1.AllocationResult) (done bool, err error) {
	pod, err := m.Client().CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
	if err != nil || name == nil {
		return false, nil // it is not made yet
	}
	claims := m.Client().ResourceV1().ResourceClaims(p.Namespace)
	claim, err := claims.Get(ctx, *name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	if claim.Status.Allocation != nil {
		reserved := func(by resourcev1.ResourceClaimConsumerReference) bool { return by.UID == pod.UID }
		return slices.ContainsFunc(claim.Status.ReservedFor, reserved), nil
	}
	if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) { // without it, devices are not taken away again
		claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
		if claim, err = claims.Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
			return false, err
		}
	}
	claim.Status.Allocation = had
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
	_, err = claims.UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err == nil, err
}
