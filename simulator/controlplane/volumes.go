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
		core := r.shared.Core().V1()
		binder, err := persistentvolume.NewController(ctx, persistentvolume.ControllerParameters{
			KubeClient:                as,
			SyncPeriod:                volumeResync,
			VolumeInformer:            core.PersistentVolumes(),
			ClaimInformer:             core.PersistentVolumeClaims(),
			ClassInformer:             r.shared.Storage().V1().StorageClasses(),
			PodInformer:               core.Pods(),
			NodeInformer:              core.Nodes(),
			EnableDynamicProvisioning: true,
		})
		if err != nil {
			return err
		}
		r.run(binder.Run)
		return nil
	}},
	{"ephemeral-volume-controller", func(ctx context.Context, r *controllers, as identity) error {
		core := r.shared.Core().V1()
		claims, err := ephemeral.NewController(ctx, as, core.Pods(), core.PersistentVolumeClaims())
		if err != nil {
			return err
		}
		r.work(claims.Run)
		return nil
	}},
}
