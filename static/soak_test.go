package static_test

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex/regextest"
)

// soakCycles is how many pods the soak schedules. make soak schedules a million, with which the guest's memory
// is seen to keep its size.
var soakCycles = flag.Int("soak.cycles", 10_000, "how many pods the soak schedules")

const (
	// settled is after how many cycles the guest's memory must have its size. It
	// grows in steps of megabytes, while the biggest pods are still to come.
	settled = 100_000
	// maxAnnotations is about what the API server allows a pod, in bytes.
	maxAnnotations = 1 << 18
	// mayGrow is by how much it may grow after that, in bytes.
	mayGrow = 1 << 20
)

func TestSoakOfDifferingPatternsPodsAndNodes(t *testing.T) {
	s := &soak{t: t, random: rand.New(rand.NewPCG(3, 4))}
	for range 200 {
		s.clusters = append(s.clusters, nodesNamed(regextest.Names(s.random, 3)...))
	}
	s.guest = load(t, v2File, "", s.clusters[0])
	memory := 0
	for i := range *soakCycles {
		s.cycle(i)
		if i == settled {
			memory = s.guest.Memory()
		}
		if t.Failed() {
			break
		}
	}
	if s.costly > s.cycles/1000 {
		t.Errorf("%d honest patterns were too costly", s.costly)
	}
	grown := s.guest.Memory() - memory
	if memory > 0 && grown > mayGrow {
		t.Errorf("memory grew by %d bytes after %d cycles, from %d", grown, settled, memory)
	}
	if s.guest.Memory() > maxMemory {
		t.Errorf("%d bytes of memory", s.guest.Memory())
	}
}

// soak schedules pod after pod through one instance of v2.
type soak struct {
	t        *testing.T
	random   *rand.Rand
	clusters []*snapshot.Handle
	guest    *guest
	cycles   int
	costly   int // cycles that the budget ended, with honest patterns
}

// cycle schedules one pod. Now and then a hostile one comes, or one that asks
// for nothing.
func (s *soak) cycle(i int) {
	s.cycles++
	switch {
	case i%100 == 0:
		s.schedule(regextest.Wild(s.random), true)
	case i%50 == 1:
		s.schedule(regextest.Invalid(s.random), false)
	case i%50 == 2:
		_, status := s.guest.PreFilter(s.dress(podWithout()))
		if !status.IsSkip() {
			s.t.Errorf("cycle %d: a pod without annotation: %v", s.cycles, status)
		}
	default:
		s.schedule(regextest.Honest(s.random), false)
	}
}

// schedule compares every verdict with regexp's. Only a hostile pattern may be too
// costly, and one of some thousand of the honest ones, with counters that overlap.
func (s *soak) schedule(pattern string, hostile bool) {
	want, err := regexp.Compile(pattern)
	pod := s.dress(podWith(pattern))
	_, status := s.guest.PreFilter(pod)
	if trapped(status) {
		s.t.Fatalf("cycle %d: %q: %v", s.cycles, pattern, status)
	}
	if !status.IsSuccess() {
		costly := strings.Contains(status.Message(), "too costly to match")
		if costly && !hostile {
			s.costly++
		}
		if status.Code() != fwk.UnschedulableAndUnresolvable || !(hostile || costly || err != nil) {
			s.t.Errorf("cycle %d: %q: %v", s.cycles, pattern, status)
		}
		return
	}
	if err != nil {
		s.t.Errorf("cycle %d: %q is accepted: %v", s.cycles, pattern, err)
		return
	}
	for _, node := range s.clusters[s.random.IntN(len(s.clusters))].Nodes {
		status := s.guest.Filter(pod, node)
		if trapped(status) || status.IsSuccess() != want.MatchString(node.Node().Name) {
			s.t.Errorf("cycle %d: %q on %s: %v", s.cycles, want, node.Node().Name, status)
		}
	}
}

// dress gives a pod a size of its own.
func (s *soak) dress(pod *v1.Pod) *v1.Pod {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	size := s.random.IntN(512)
	if s.random.IntN(1000) == 0 {
		size = s.random.IntN(maxAnnotations)
	}
	for _, key := range []string{"a.example.com/before", "z.example.com/after"}[:s.random.IntN(3)] {
		pod.Annotations[key] = strings.Repeat("x", size)
	}
	return pod
}
