package cluster

import (
	"cmp"
	_ "unsafe" // for go:linkname

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/storage"
)

//go:linkname normalizeClusterIPs k8s.io/kubernetes/pkg/registry/core/service/storage.normalizeClusterIPs
func normalizeClusterIPs(storage.After, storage.Before)

//go:linkname patchAllocatedValues k8s.io/kubernetes/pkg/registry/core/service/storage.patchAllocatedValues
func patchAllocatedValues(storage.After, storage.Before)

// allocate does what an API server does to a Service beside its strategy, in the place of an old one if that is not nil. It gives
// it no address and no port of a node, since a file does not say which are free and nothing here needs them.
func allocate(o, old runtime.Object) {
	now, isService := o.(*core.Service)
	if !isService {
		return
	}
	was, _ := old.(*core.Service)
	if was != nil {
		allocate(was, nil) // the file may have it as its manifest has
		patchAllocatedValues(storage.After{Service: now}, storage.Before{Service: was})
		if now.Spec.Type != core.ServiceTypeExternalName && was.Spec.Type != core.ServiceTypeExternalName {
			now.Spec.IPFamilyPolicy = cmp.Or(now.Spec.IPFamilyPolicy, was.Spec.IPFamilyPolicy)
			if len(now.Spec.IPFamilies) == 0 {
				now.Spec.IPFamilies = was.Spec.IPFamilies
			}
		}
	}
	normalizeClusterIPs(storage.After{Service: now}, storage.Before{Service: was})
	if service.NeedsHealthCheck(now) && now.Spec.HealthCheckNodePort == 0 {
		now.Spec.HealthCheckNodePort = 30000 // the first of an API server's default range
	}
}
