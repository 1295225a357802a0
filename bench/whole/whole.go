// Package whole measures whole schedulers: a real control plane with nodes that
// exist in the API only, pods that wait, and a real kube-scheduler that is let
// loose on them, once with each door.
//
// The nodes are made Ready and big, so no kubelet, not even a fake one, takes a
// share of the machine. What a reader must know: the API server, etcd and the scheduler
// share the machine, as they do on a small control plane, so pods per second are
// bounded by all of them.
package whole

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/internal/controlplane"
)

// Plan says what is measured.
type Plan struct {
	Nodes, Pods, Rounds int
	// Limit ends a run whose door is too slow for all pods.
	Limit time.Duration
	// Say tells what is being measured, and which share of all is done.
	Say func(what string, done float64)
}

// Result is what the scheduler came to with one door.
type Result struct {
	Door        string
	Nodes, Pods int
	Rate        sample.Sample // pods bound per second, one for each round
	Latency     sample.Sample // ns in SchedulePod, one for each pod of all rounds
	Left        int           // pods that were not scheduled in time, in all rounds
}

// None is the door of the scheduler as everyone has it, without any of ours.
const None = "none"

// none has nothing but the client's limits, which all have.
var none = door.Door{Name: None, Serve: func(context.Context) (door.Service, error) {
	return door.Service{Config: `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 100000, burst: 100000}
`}, nil
}}

// Run measures the scheduler without a door and with each that can be served,
// in turns. With an error it returns what was measured until then.
func Run(ctx context.Context, plan Plan, doors []door.Door) (results []Result, err error) {
	doors = serving(doors)
	plan.Say("starting a control plane", 0)
	cluster, err := controlplane.Start(ctx, controlplane.Config{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	b, err := newBench(ctx, plan, cluster)
	if err != nil {
		return nil, err
	}
	for _, d := range doors {
		results = append(results, Result{Door: d.Name, Nodes: plan.Nodes, Pods: plan.Pods})
	}
	for round := range plan.Rounds {
		for turn := range doors {
			i := (turn + round) % len(doors) // so that nobody is always the first
			d := doors[i]
			done := float64(round*len(doors)+turn) / float64(plan.Rounds*len(doors))
			plan.Say(fmt.Sprintf("whole scheduler, %d pods on %d nodes, %s", plan.Pods, plan.Nodes, d.Name), done)
			if err := b.run(ctx, d, &results[i]); err != nil {
				return results, fmt.Errorf("door %s: %w", d.Name, err)
			}
		}
	}
	return results, nil
}

func serving(doors []door.Door) []door.Door {
	all := []door.Door{none}
	for _, d := range doors {
		if d.Serve != nil {
			all = append(all, d)
		}
	}
	return all
}

func newBench(ctx context.Context, plan Plan, cluster *controlplane.Cluster) (*bench, error) {
	config := cluster.AdminConfig()
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	b := &bench{plan: plan, client: client, kubeconfig: filepath.Join(cluster.DataDir(), "scheduler.kubeconfig")}
	if err := cluster.WriteKubeconfig(b.kubeconfig, "system:kube-scheduler"); err != nil {
		return nil, err
	}
	plan.Say(fmt.Sprintf("making %d nodes", plan.Nodes), 0)
	return b, b.createNodes(ctx)
}
