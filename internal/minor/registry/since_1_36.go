//go:build !kubernetes_1_35

package registry

import (
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/rest"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
)

// resourceClaim are the strategies of resource claims and of their status. Everybody may write them.
func resourceClaim(namespaces v1.NamespaceInterface) (object, status rest.RESTCreateUpdateStrategy) {
	strategy := resourceclaim.NewStrategy(namespaces, authorizerfactory.NewAlwaysAllowAuthorizer())
	return strategy, resourceclaim.NewStatusStrategy(strategy)
}
