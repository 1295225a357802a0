// Package serviceaccount is the part of Kubernetes' ServiceAccount admission plugin that later steps depend on: a pod
// without a service account has the one called "default", without which a projected token is not valid. It does
// not ask whether the account exists, and mounts no token.
package serviceaccount

import (
	"context"
	"io"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"

	minor "wasmkwokwizardry.io/regex-scheduling/internal/minor/controlplane"
)

// PluginName is the name of the plugin. It may be registered beside Kubernetes' own.
const PluginName = serviceaccount.PluginName + "Name"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) {
		return plugin{admission.NewHandler(admission.Create)}, nil
	})
}

type plugin struct{ *admission.Handler }

// Admit implements admission.MutationInterface. A static pod has no service account.
func (plugin) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	pod, ok := a.GetObject().(*core.Pod)
	if !ok || a.GetSubresource() != "" || pod.Annotations[v1.MirrorPodAnnotationKey] != "" {
		return nil
	}
	if pod.Spec.ServiceAccountName == "" {
		minor.SetServiceAccountName(&pod.Spec, serviceaccount.DefaultServiceAccountName)
	}
	return nil
}
