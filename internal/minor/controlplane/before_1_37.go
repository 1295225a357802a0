//go:build !kubernetes_1_37

package controlplane

import "k8s.io/kubernetes/pkg/controlplane/apiserver"

// BuildGenericConfig is what all of an API server's own servers have in common.
var BuildGenericConfig = apiserver.BuildGenericConfig
