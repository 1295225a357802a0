package controlplane

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/controller/volume/ephemeral"
	"k8s.io/kubernetes/pkg/controller/volume/persistentvolume"
)

// volumeResync is how often claims are looked at that nothing has happened to: so
// long one may wait for a volume that was made after it. Upstream it is 15 seconds,
// in which a person at the page gives up.
const volumeResync = 2 * time.Second

// volumes are the controllers of claims. The binder has none of the volume plugins
// that are compiled into Kubernetes: they would make and delete files of this machine.
var volumes = []controller{
	{"persistent-volume-binder", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
			KubeClient:                as,
			SyncPeriod:                volumeResync,
			VolumeInformer:            r.core().PersistentVolumes(),
			ClaimInformer:             r.core().PersistentVolumeClaims(),
			ClassInformer:             r.shared.Storage().V1().StorageClasses(),
			PodInformer:               r.core().Pods(),
			NodeInformer:              r.core().Nodes(),
			EnableDynamicProvisioning: true,
		}))
	}},
	{"ephemeral-volume-controller", func(ctx context.Context, r *controllers, as identity) error {
		return r.run(ephemeral.NewController(ctx, as, r.core().Pods(), r.core().PersistentVolumeClaims()))
	}},
}
