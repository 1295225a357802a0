package simulator

import (
	"context"
	"fmt"
	"log"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/provision"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/reconcile"
)

// provisioner stands in for the storage of a cluster: for each claim that is to have a
// volume made it makes one that exists only in the API, and deletes it when its claim
// is gone. It binds nothing, attaches nothing and keeps no data.
//
// To the binder of persistent volumes it is the external provisioner of every
// StorageClass, whatever driver that names: a class that was imported names one
// that does not run here. Classes of kubernetes.io/no-provisioner make no volumes.
type provisioner struct {
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
}

// startVolumes makes volumes for claims, and deletes released volumes, now and until ctx is done. What fails is
// tried again, and written to warnings. wait returns when the last request has ended.
func startVolumes(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, warnings *log.Logger) (wait func(), err error) {
	core := shared.Core().V1()
	p := &provisioner{
		client: client,
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(),
		classes: shared.Storage().V1().StorageClasses().Lister(),
	}
	claims := reconcile.NewQueue("persistent volume claim", p.provision, warnings)
	volumes := reconcile.NewQueue("persistent volume", p.release, warnings)
	for informer, queue := range map[cache.SharedIndexInformer]*reconcile.Queue{
		core.PersistentVolumeClaims().Informer(): claims, core.PersistentVolumes().Informer(): volumes,
	} {
		if err := reconcile.Watch(informer, queue.Add); err != nil {
			return nil, fmt.Errorf("watch claims and volumes: %w", err)
		}
	}
	return reconcile.Run(ctx, claims, volumes), nil
}

// provision makes the volume of a claim, if it is to have one made, and once it is
// known for which node where that matters.
func (p *provisioner) provision(ctx context.Context, name cache.ObjectName) error {
	claim, err := p.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil {
		return nil // it is gone
	}
	driver := claim.Annotations[volumehelpers.AnnStorageProvisioner]
	if driver == "" || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return nil
	}
	class, err := p.classes.Get(volumehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil {
		return err // this cache may be behind that of the binder, which annotates a claim once
	}
	volume := provision.Volume(claim, class, driver)
	if ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer {
		node, err := p.selected(ctx, claim)
		if err != nil || node == nil {
			return err
		}
		on, err := p.client.StorageV1().CSINodes().Get(ctx, node.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			on = nil
		} else if err != nil {
			return err
		}
		volume.Spec.NodeAffinity = provision.Around(node, on, driver)
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil // the name is this claim's alone
	}
	return err
}

// selected is the node that the scheduler has chosen for a pod with the claim, or
// nil if it has not yet. If that node is gone, the scheduler chooses again.
func (p *provisioner) selected(ctx context.Context, claim *v1.PersistentVolumeClaim) (*v1.Node, error) {
	name := claim.Annotations[volumehelpers.AnnSelectedNode]
	if name == "" {
		return nil, nil
	}
	node, err := p.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return node, err
	}
	claim = claim.DeepCopy()
	delete(claim.Annotations, volumehelpers.AnnSelectedNode)
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
	return nil, err
}

// release deletes a volume that was made for a claim that is gone, unless its class
// said to keep it.
func (p *provisioner) release(ctx context.Context, name cache.ObjectName) error {
	volume, err := p.volumes.Get(name.Name)
	if err != nil {
		return nil // it is gone
	}
	if volume.Status.Phase != v1.VolumeReleased || volume.Spec.PersistentVolumeReclaimPolicy != v1.PersistentVolumeReclaimDelete ||
		volume.Annotations[volumehelpers.AnnDynamicallyProvisioned] == "" || volume.DeletionTimestamp != nil {
		return nil
	}
	return p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &volume.UID, ResourceVersion: &volume.ResourceVersion},
	})
}
