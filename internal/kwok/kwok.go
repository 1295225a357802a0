package kwok

import (
	"context"
	"fmt"
	"io"

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
	// leaseSeconds is long because nobody acts on a lease that ran out; they
	// exist so that "kubectl describe node" finds one. KWOK renews after a
	// quarter of it.
	leaseSeconds = 3600
	// podCIDR and nodeIP are addresses that nothing routes, outside the range
	// of the control plane's services.
	podCIDR = "10.244.0.0/16"
	nodeIP  = "10.0.0.1"
	// parallelism is how many requests are under way per kind: more than a small
	// machine has cores, since most of the time of each is waiting.
	parallelism = 16
)

// Start makes every node of the cluster Ready and every bound pod Running, now
// and until ctx is done. It returns once the controllers run; nodes follow
// within moments. config's identity must be allowed to patch nodes and pods, to
// delete pods and to write leases. Warnings and errors go to logs; nil drops
// them.
//
// KWOK gives a pod without a place in 10.244.0.0/16 left the next address after
// it, and leaves two goroutines of its event recorder behind when ctx ends.
func Start(ctx context.Context, config *rest.Config, logs io.Writer) error {
	stages, err := stages()
	if err != nil {
		return err
	}
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
	if err := controller.Start(log.NewContext(ctx, log.NewLogger(logs, log.LevelWarn))); err != nil {
		return fmt.Errorf("start kwok's controllers: %w", err)
	}
	return nil
}
