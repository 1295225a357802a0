// Package volumes stands in for the storage of a cluster: for each claim that is
// to have a volume made it makes one that exists only in the API, and deletes it
// when its claim is gone.
//
// To the binder of persistent volumes it is the external provisioner of every
// StorageClass, whatever driver that names: a class that was imported names one
// that does not run here. Classes of kubernetes.io/no-provisioner make no volumes
// anywhere.
//
// What it is not: it binds nothing, attaches nothing and keeps no data. That is
// the binder's and the scheduler's work, and nobody's. It is no API.
package volumes

import (
	"context"
	"fmt"
	"io"
	"log"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
)

type provisioner struct {
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
}

// Start makes volumes for claims, and deletes those that are released, now and
// until ctx is done. The informers of claims, volumes and storage classes
// in shared must run. What fails is tried again, and written to logs, one Write each.
// After the end of ctx, wait until the last request has ended with the result.
func Start(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, logs io.Writer) (wait func(), err error) {
	core := shared.Core().V1()
	p := &provisioner{
		client: client,
		claims: core.PersistentVolumeClaims().Lister(), volumes: core.PersistentVolumes().Lister(),
		classes: shared.Storage().V1().StorageClasses().Lister(),
	}
	warnings := log.New(logs, "", 0)
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
	volume := volumeOf(claim, class, driver)
	if ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer {
		node, err := p.selected(ctx, claim)
		if err != nil || node == nil {
			return err
		}
		if volume.Spec.NodeAffinity, err = p.around(ctx, node, driver); err != nil {
			return err
		}
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil // the name is that of this claim alone
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
	return p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(volume.UID))})
}

// volumeOf is what a driver would make for a claim: as large as it asks for, and
// where the class allows it.
func volumeOf(claim *v1.PersistentVolumeClaim, class *storagev1.StorageClass, driver string) *v1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{volumehelpers.AnnDynamicallyProvisioned: driver},
		},
		Spec: v1.PersistentVolumeSpec{
			Capacity:                      v1.ResourceList{v1.ResourceStorage: claim.Spec.Resources.Requests[v1.ResourceStorage]},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, v1.PersistentVolumeReclaimDelete),
			PersistentVolumeSource:        source(driver, name),
			NodeAffinity:                  affinity(class.AllowedTopologies),
			ClaimRef: &v1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
}

// source is a volume of the driver, so that it counts towards the driver's limit
// on its node; or one of a directory, if the driver has a name that none can have.
func source(driver, name string) v1.PersistentVolumeSource {
	const longest = 63
	if len(driver) > longest || len(validation.IsDNS1123Subdomain(driver)) > 0 {
		return v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/simulated/" + name}}
	}
	return v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}}
}

// affinity is to where a class allows its volumes, or nil if that is anywhere.
func affinity(terms []v1.TopologySelectorTerm) *v1.VolumeNodeAffinity {
	if len(terms) == 0 {
		return nil
	}
	required := &v1.NodeSelector{}
	for _, term := range terms {
		var match v1.NodeSelectorTerm
		for _, label := range term.MatchLabelExpressions {
			match.MatchExpressions = append(match.MatchExpressions,
				v1.NodeSelectorRequirement{Key: label.Key, Operator: v1.NodeSelectorOpIn, Values: label.Values})
		}
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, match)
	}
	return &v1.VolumeNodeAffinity{Required: required}
}

// around is affinity to from where a driver's volumes can be reached that are made
// for a node: the driver says so on the node, and for others it is the node's zone. Of
// a node without a zone it is the node alone. A node without such labels is like any
// other.
func (p *provisioner) around(ctx context.Context, node *v1.Node, driver string) (*v1.VolumeNodeAffinity, error) {
	keys := []string{v1.LabelTopologyZone}
	if _, ok := node.Labels[v1.LabelTopologyZone]; !ok {
		keys = []string{v1.LabelHostname}
	}
	on, err := p.client.StorageV1().CSINodes().Get(ctx, node.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	if err == nil {
		if i := slices.IndexFunc(on.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver }); i >= 0 {
			keys = on.Spec.Drivers[i].TopologyKeys
		}
	}
	var term v1.TopologySelectorTerm
	for _, key := range keys {
		if value, ok := node.Labels[key]; ok {
			term.MatchLabelExpressions = append(term.MatchLabelExpressions, v1.TopologySelectorLabelRequirement{Key: key, Values: []string{value}})
		}
	}
	if len(term.MatchLabelExpressions) == 0 {
		return nil, nil
	}
	return affinity([]v1.TopologySelectorTerm{term}), nil
}
