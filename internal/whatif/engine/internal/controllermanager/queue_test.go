package controllermanager

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/internal/clock"
)

// syncsOf is how often a key is synced that each sync adds again until there were so many, in a cluster of 100 nodes.
func syncsOf(t *testing.T, until int) (syncs int, unfinished string) {
	t.Helper()
	now := clock.New(time.Unix(1, 0))
	c, err := cluster.New(now.Now)
	testkit.Must(t, err)
	nodes := &snapshot.Snapshot{}
	for i := range 100 {
		var node v1.Node
		node.Name = fmt.Sprint("n", i)
		nodes.Nodes = append(nodes.Nodes, node)
	}
	testkit.Must(t, c.Load(nodes))
	q := newQueue("web-controller.queue", now, nil)
	q.worker = func(context.Context) {
		key, _ := q.Get()
		syncs++
		if syncs < until {
			q.Add(key)
		}
		q.Done(key)
	}
	q.Add("default/web")
	m := &Manager{cluster: c, clock: now, queues: []*queue{q}}
	_, err = m.Sync(t.Context())
	testkit.Must(t, err)
	return syncs, fmt.Sprint(m.Unfinished(time.Hour))
}

func TestControllersEndWhatTakesThousandsOfSyncs(t *testing.T) {
	syncs, unfinished := syncsOf(t, 2900)
	if syncs != 2900 || unfinished != "[]" {
		t.Errorf("%d syncs, unfinished: %s", syncs, unfinished)
	}
}

func TestLoopWithoutAnEndIsStoppedAndReported(t *testing.T) {
	syncs, unfinished := syncsOf(t, 1_000_000)
	if syncs != 3000 || unfinished != "[web-controller at default/web, since it changed something again and again]" {
		t.Errorf("%d syncs, unfinished: %s", syncs, unfinished)
	}
}

// As a StatefulSet that is scaled down in order, which has fewer pods the more often it was synced.
func TestControllersEndWhatLeavesLessWithEachSync(t *testing.T) {
	const nodes = 2040
	now := clock.New(time.Unix(1, 0))
	c, err := cluster.New(now.Now)
	testkit.Must(t, err)
	has := &snapshot.Snapshot{}
	for i := range nodes {
		var node v1.Node
		node.Name = fmt.Sprint("n", i)
		has.Nodes = append(has.Nodes, node)
	}
	testkit.Must(t, c.Load(has))
	q := newQueue("web-controller.queue", now, nil)
	left := nodes
	q.worker = func(context.Context) {
		key, _ := q.Get()
		left--
		c.Delete(cluster.Get[*v1.Node](c, "", fmt.Sprint("n", left)))
		if left > 0 {
			q.Add(key)
		}
		q.Done(key)
	}
	q.Add("default/web")
	m := &Manager{cluster: c, clock: now, queues: []*queue{q}}
	_, err = m.Sync(t.Context())
	testkit.Must(t, err)
	unfinished := m.Unfinished(time.Hour)
	if left > 0 || len(unfinished) > 0 {
		t.Errorf("%d are left, unfinished: %s", left, unfinished)
	}
}

func TestKeyThatIsAddedAgainIsNotAbandoned(t *testing.T) {
	now := clock.New(time.Unix(1, 0))
	q := newQueue("web-controller.queue", now, nil)
	sync := func(then func(key string)) {
		q.next()
		key, _ := q.Get()
		then(key)
		q.Done(key)
	}
	later := func(key string) { q.AddAfter(key, time.Second) }
	q.Add("default/web")
	sync(later)
	for at := q.due(); !at.IsZero(); at = q.due() {
		now.SetTime(at)
		q.addDue(at)
		sync(later)
	}
	if !q.abandoned["default/web"] {
		t.Fatal("a key is tried for ever though nothing changes")
	}
	q.Add("default/web")
	sync(q.Forget)
	if len(q.abandoned) > 0 {
		t.Error("abandoned are", q.abandoned)
	}
}
