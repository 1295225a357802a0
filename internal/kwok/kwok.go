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
	// identity holds the nodes' leases. It is fixed, so that a kept cluster's
	// nodes are ours again after a restart instead of waiting for the leases of
	// a former self to run out.
	identity = "kwok"
	// leaseSeconds is a day because nobody acts on a lease that ran out; they
	// exist so that "kubectl describe node" finds one. KWOK renews after a
	// quarter of it.
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
// within moments. config's identity must be allowed to patch nodes and pods, to
// delete pods and to write leases. Warnings and errors go to logs until ctx is
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
		Clock:                    clock.RealClock{},
		TypedClient:              client,
		RESTClient:               client.Discovery().RESTClient(),
		ManageAllNodes:           true,
		CIDR:                     podCIDR,
		NodeIP:                   nodeIP,
		LocalStages:              stages,
		PodPlayStageParallelism:  parallelism,
		NodePlayStageParallelism: parallelism,
		NodeLeaseParallelism:     parallelism,
		NodeLeaseDurationSeconds: leaseSeconds,
		ID:                       identity,
	})
	if err != nil {
		return fmt.Errorf("make kwok's controllers: %w", err)
	}
	if logs == nil {
		logs = io.Discard
	}
	logger := log.NewLogger(untilDone{ctx, logs}, log.LevelWarn)
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
