// Package provision makes the volumes of claims as drivers of storage would: volumes that
// exist only in the API.
package provision

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	volumehelpers "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// Volume is what a driver would make for a claim: as large as it asks for, and
// where the class allows it.
func Volume(claim *v1.PersistentVolumeClaim, class *storagev1.StorageClass, driver string) *v1.PersistentVolume {
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

// Around is affinity to from where a driver's volumes can be reached that are made
// for a node: the driver says so on the node, and for others it is the node's zone. Of
// a node without a zone it is the node alone. A node without such labels is like any
// other. The CSINode is the node's, or nil.
func Around(node *v1.Node, on *storagev1.CSINode, driver string) *v1.VolumeNodeAffinity {
	keys := []string{v1.LabelTopologyZone}
	_, ok := node.Labels[v1.LabelTopologyZone]
	if !ok {
		keys = []string{v1.LabelHostname}
	}
	if on != nil {
		i := slices.IndexFunc(on.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver })
		if i >= 0 {
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
		return nil
	}
	return affinity([]v1.TopologySelectorTerm{term})
}
