//go:build kubernetes_1_37 || kubernetes_1_38

package registry

import (
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
)

// podGroup are the strategies of PodGroups and of their status.
func podGroup() (object, status rest.RESTCreateUpdateStrategy) {
	strategy := podgroup.NewStrategy()
	return strategy, podgroup.NewStatusStrategy(strategy)
}
