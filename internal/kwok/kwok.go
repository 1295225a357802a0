package kwok

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
)

const (
	// leaseSeconds is what the lease of a node says, a day: see lease.
	leaseSeconds = 24 * 60 * 60
	// podCIDR and nodeIP are addresses that nothing routes, outside the range
	// of the control plane's services.
	podCIDR = "10.244.0.1/16"
	nodeIP  = "10.0.0.1"
	// parallelism is how many requests are under way per kind: more than a small
	// machine has cores, since most of the time of each is waiting.
	parallelism = 16
)

// Start makes every node of the cluster Ready and every bound pod Running, now
// and until ctx is done. It returns once the controllers run; nodes follow
// within moments. config's identity must be allowed to update nodes, to patch and
// delete pods, and to write leases. Warnings and errors go to logs until ctx is
// done; nil drops them.
//
// When podCIDR is used up, KWOK goes on with the addresses after it. Five
// idle goroutines of KWOK's queues and event recorder stay behind when ctx ends:
// upstream has no way to stop them.
func Start(ctx context.Context, config *rest.Config, logs io.Writer) error {
	stages, err := stages()
	if err != nil {
		return err
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return fromCache{next} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client of kwok: %w", err)
	}
	controller, err := controllers.NewController(controllers.Config{
		Clock:          clock.RealClock{},
		TypedClient:    client,
		RESTClient:     client.Discovery().RESTClient(),
		ManageAllNodes: true,
		// No leases: KWOK would leave a node alone until it holds one, and try
		// again after hours where it failed to, as for a node that is made again
		// while the lease of its predecessor goes.
		CIDR:                     podCIDR,
		NodeIP:                   nodeIP,
		LocalStages:              stages,
		PodPlayStageParallelism:  parallelism,
		NodePlayStageParallelism: parallelism,
	})
	if err != nil {
		return fmt.Errorf("make kwok's controllers: %w", err)
	}
	if logs == nil {
		logs = io.Discard
	}
	logger := log.NewLogger(untilDone{ctx, logs}, log.LevelWarn)
	if err := startKubelets(ctx, client, logger); err != nil {
		return err
	}
	if err := controller.Start(log.NewContext(ctx, logger)); err != nil {
		return fmt.Errorf("start kwok's controllers: %w", err)
	}
	return nil
}

// untilDone drops what KWOK complains about while it is being stopped.
type untilDone struct {
	ctx context.Context
	to  io.Writer
}

func (w untilDone) Write(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return len(p), nil
	}
	return w.to.Write(p)
}
