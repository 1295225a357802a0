//go:build kubernetes_1_37 || kubernetes_1_38

package controlplane

import (
	"context"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	openapi "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
)

// BuildGenericConfig is what all of an API server's own servers have in common. Its
// informers have no name, which metrics would show. PodGroups are served if their feature
// gate is on; nothing here would take off the finalizer that a plugin adds to them.
func BuildGenericConfig(opts options.CompletedOptions, schemes []*runtime.Scheme, served *storage.ResourceConfig, definitions openapi.GetOpenAPIDefinitions) (
	*genericapiserver.Config, informers.SharedInformerFactory, *storage.DefaultStorageFactory, error,
) {
	served.EnableVersions(schedulingv1beta1.SchemeGroupVersion)
	opts.Admission.GenericAdmission.DisablePlugins = append(opts.Admission.GenericAdmission.DisablePlugins, "PodGroupProtection") // whose package go mod tidy would miss in other minors
	return apiserver.BuildGenericConfig(opts, schemes, served, definitions, nil)
}

// Claims is the controller of resource claims.
func Claims(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory) (*resourceclaim.Controller, error) {
	return resourceclaim.NewController(klog.FromContext(ctx), client, shared.Core().V1().Pods(), shared.Scheduling().V1beta1().PodGroups(),
		shared.Resource().V1().ResourceClaims(), shared.Resource().V1().ResourceClaimTemplates())
}

// SetServiceAccountName sets the service account of a pod. The deprecated alias has to be the same.
func SetServiceAccountName(spec *core.PodSpec, name string) {
	spec.ServiceAccountName = name
	spec.DeprecatedServiceAccount = name
}
