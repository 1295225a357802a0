package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// heartbeat is how often each kubelet renews the status of its node.
const heartbeat = 10 * time.Second

// cyclesPerSecond relates cycles to heartbeats in BenchmarkCycle. A whole scheduler
// achieves about as many.
const cyclesPerSecond = 300

// renewals renew the nodes of a cluster as the scheduler's cache does: another Node in the
// same NodeInfo.
type renewals struct {
	spare []*framework.NodeInfo // one for each node
	next  int
	due   float64
}

// afterCycle renews as many nodes as are due in a cycle's share of a second.
func (c *cluster) afterCycle() {
	r := &c.renewals
	for r.due += float64(len(c.Nodes)) / (heartbeat.Seconds() * cyclesPerSecond); r.due >= 1; r.due-- {
		c.renew(r.next)
		r.next = (r.next + 1) % len(c.Nodes)
	}
}

// renewAll is for a scheduler that has run for a while: all nodes have changed since it
// started.
func (c *cluster) renewAll() {
	for i := range c.Nodes {
		c.renew(i)
	}
}

// renew does what the scheduler's cache does for a node with a new status.
func (c *cluster) renew(i int) {
	r := &c.renewals
	if r.spare == nil {
		r.spare = make([]*framework.NodeInfo, len(c.Nodes))
	}
	seen := c.Nodes[i].(*framework.NodeInfo)
	if r.spare[i] == nil {
		other := *seen.Node()
		r.spare[i] = framework.NewNodeInfo()
		r.spare[i].SetNode(&other)
	}
	*seen, *r.spare[i] = *r.spare[i], *seen
}

// heartbeats renew the status of all nodes until stop is called, which returns the number
// renewed in a second.
func (c *wholeCluster) heartbeats(ctx context.Context) (stop func() float64) {
	const kubelets = 8 // at a time
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var renewed [kubelets]int
	began := time.Now()
	for k := range kubelets {
		all.Go(func() {
			beat := time.NewTicker(heartbeat * kubelets / time.Duration(max(kubelets, c.nodes)))
			defer beat.Stop()
			for i := k; ; i += kubelets {
				select {
				case <-ctx.Done():
					return
				case <-beat.C:
				}
				if c.renewStatus(ctx, nodeName(i%c.nodes)) == nil {
					renewed[k]++
				}
			}
		})
	}
	return func() float64 {
		took := time.Since(began).Seconds()
		cancel()
		all.Wait()
		sum := 0
		for _, n := range renewed {
			sum += n
		}
		return float64(sum) / took
	}
}

// renewStatus patches a node as a kubelet does.
func (c *wholeCluster) renewStatus(ctx context.Context, node string) error {
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`, time.Now().UTC().Format(time.RFC3339))
	_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}
