package bench

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// BenchmarkCycle measures a pod's scheduling cycle in each variant: CPU time (cpu-ns/op)
// and wall time (ns/op). The nodes change as often as kubelets renew their status.
func BenchmarkCycle(b *testing.B) {
	variants := asked(b)
	clusters := openAll(b, variants, nodes)
	for _, c := range cases {
		if c.variants == nil {
			continue
		}
		among := slices.DeleteFunc(slices.Clone(variants), func(d *variant) bool { return !c.variants(d) })
		for _, o := range clusters {
			pods := podsOf(c)
			inTurns(b, *rounds, fmt.Sprintf("case=%s/nodes=%d", c.name, len(o.names)), among, func(b *testing.B, d *variant) {
				o.measure(b, d, c, pods)
			})
		}
	}
}

// asked are the variants that have a session.
func asked(tb testing.TB) []*variant {
	return slices.DeleteFunc(allVariants(tb), func(d *variant) bool { return d.open == nil })
}

// open is a cluster with the sessions of its variants.
type open struct {
	*cluster
	sessions map[*variant]session
}

func openAll(tb testing.TB, variants []*variant, sizes []int) (all []*open) {
	for _, n := range sizes {
		o := &open{newCluster(n), map[*variant]session{}}
		for _, d := range variants {
			s, err := d.open(o.cluster)
			if err != nil {
				tb.Fatalf("variant %s: %v", d.name, err)
			}
			tb.Cleanup(func() { _ = s.Close() })
			o.sessions[d] = s
		}
		all = append(all, o)
	}
	return all
}

// podsOf are the pods that take turns in a case, so that no variant gets the same pod twice
// in a row.
func podsOf(c *kase) (pods []*v1.Pod) {
	for i := range 16 {
		pods = append(pods, c.pod(i))
	}
	return pods
}

// measure runs cycle after cycle. The first does not count: the nodes are not in the CPU's
// caches yet, where a scheduler's other plugins would have brought them. check runs on it.
func (o *open) measure(b *testing.B, d *variant, c *kase, pods []*v1.Pod) {
	wrong, err := o.check(d, c)
	if err != nil && d.role == ours {
		b.Fatal(err)
	}
	o.renewAll()
	s, feasible := o.sessions[d], make([]string, 0, len(o.names))
	b.ReportAllocs()
	var cpu time.Duration
	for i := 0; b.Loop(); i++ {
		if i == 0 {
			cpu = cpuTime() // the first Loop counts memory
		}
		_, err := s.Cycle(c.again(pods[i%len(pods)]), feasible)
		if err != nil && wrong == 0 {
			b.Fatal(err)
		}
		o.afterCycle()
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N), "cpu-ns/op")
	if d.role == foreign {
		b.ReportMetric(float64(wrong), "wrong-nodes")
	}
}

// check runs one pod through a variant, and counts the nodes on which the result differs
// from regexp's.
func (o *open) check(d *variant, c *kase) (wrong int, err error) {
	pod := c.pod(0)
	got, err := o.sessions[d].Cycle(pod, nil)
	if err != nil {
		return len(o.names), fmt.Errorf("%s, %s: %w", d.name, c.name, err)
	}
	want := admits(pod, o.names)
	got = slices.Sorted(slices.Values(got))
	for _, name := range o.names {
		_, is := slices.BinarySearch(got, name)
		_, should := slices.BinarySearch(want, name)
		if is != should {
			wrong++
		}
	}
	if wrong > 0 {
		err = fmt.Errorf("%s, %s: %d verdicts of %d differ from regexp's", d.name, c.name, wrong, len(o.names))
	}
	return wrong, err
}

// cpuTime is the CPU time of this process, in all threads.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // cannot fail with these arguments
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkStart measures the start of a guest up to its first pod: the host compiles and
// instantiates it, and asks for the events that it registers.
func BenchmarkStart(b *testing.B) {
	one := newCluster(1)
	withGuest := slices.DeleteFunc(asked(b), func(d *variant) bool { return d.wasm == nil })
	inTurns(b, *rounds, "case=guest", withGuest, func(b *testing.B, d *variant) {
		for b.Loop() {
			s, err := d.open(one)
			testkit.Must(b, err)
			testkit.Must(b, s.Close())
		}
		b.ReportMetric(float64(len(d.wasm)), "wasm-B")
	})
}
