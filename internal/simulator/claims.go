package simulator

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claimDevices has pods name the claims that were made for them from a template,
// if the snapshot has these: the controller of such claims would make others, to
// which no device is allocated.
func claimDevices(in *Snapshot) {
	there := map[types.NamespacedName]bool{}
	for i := range in.ResourceClaims {
		there[types.NamespacedName{Namespace: in.ResourceClaims[i].Namespace, Name: in.ResourceClaims[i].Name}] = true
	}
	for i := range in.Pods {
		pod := &in.Pods[i]
		made := map[string]*string{}
		for _, status := range pod.Status.ResourceClaimStatuses {
			made[status.Name] = status.ResourceClaimName
		}
		for c := range pod.Spec.ResourceClaims {
			claim := &pod.Spec.ResourceClaims[c]
			name := made[claim.Name]
			if claim.ResourceClaimTemplateName != nil && name != nil && there[types.NamespacedName{Namespace: pod.Namespace, Name: *name}] {
				*claim = v1.PodResourceClaim{Name: claim.Name, ResourceClaimName: name}
			}
		}
	}
}

// reserve says of the claims of a snapshot for which pods they are, by the UIDs
// that these have here: the controller takes claims away from any other.
func (i *importing) reserve(ctx context.Context, in *Snapshot) error {
	for c := range in.ResourceClaims {
		claim := &in.ResourceClaims[c]
		var here []resourcev1.ResourceClaimConsumerReference
		for _, consumer := range claim.Status.ReservedFor {
			if uid, ok := i.uids.Load(consumer.UID); ok {
				consumer.UID = uid.(types.UID)
				here = append(here, consumer)
			}
		}
		if len(here) == 0 {
			continue
		}
		err := i.reserveOne(ctx, claim, here)
		if status := apierrors.APIStatus(nil); errors.As(err, &status) && ctx.Err() == nil {
			i.refuse("resource claim "+qualified(claim), err)
		} else if err != nil {
			return fmt.Errorf("resource claim %s: %w", qualified(claim), err)
		}
	}
	return nil
}

func (i *importing) reserveOne(ctx context.Context, claim *resourcev1.ResourceClaim, to []resourcev1.ResourceClaimConsumerReference) error {
	claims := i.client.ResourceV1().ResourceClaims(claim.Namespace)
	for {
		there, err := claims.Get(ctx, claim.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		there.Status.ReservedFor = to
		if _, err = claims.UpdateStatus(ctx, there, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
	}
}
