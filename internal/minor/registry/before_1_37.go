//go:build !kubernetes_1_37 && !kubernetes_1_38

package registry

import "k8s.io/apiserver/pkg/registry/rest"

// podGroup are the strategies of PodGroups, which no cluster in memory has here.
func podGroup() (object, status rest.RESTCreateUpdateStrategy) { return nil, nil }
