//go:build !kubernetes_1_37 && !kubernetes_1_38

package controlplane

import (
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/features"
)

// BuildGenericConfig is what all of an API server's own servers have in common.
var BuildGenericConfig = apiserver.BuildGenericConfig

// claimFeatures are the feature gates that the controller of resource claims reads.
func claimFeatures() resourceclaim.Features {
	return resourceclaim.Features{
		AdminAccess:     feature.DefaultFeatureGate.Enabled(features.DRAAdminAccess),
		PrioritizedList: feature.DefaultFeatureGate.Enabled(features.DRAPrioritizedList),
	}
}

// SetServiceAccountName sets the service account of a pod.
func SetServiceAccountName(spec *core.PodSpec, name string) { spec.ServiceAccountName = name }
