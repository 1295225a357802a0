package referee_test

import (
	"strings"
	"testing"
)

func TestCaseOfASeedIsAlwaysTheSameAndCanBeRead(t *testing.T) {
	const seeds = 50
	for seed := range uint64(seeds) {
		c := generate(seed)
		text := c.Text()
		if text != generate(seed).Text() {
			t.Fatalf("seed %d: another case the second time", seed)
		}
		if seed%4 > 0 {
			var q question
			convert(c["change"], &q)
			if len(q.Steps) == 0 || len(q.Nodes)+len(q.Manifests) == 0 {
				t.Errorf("seed %d: nothing is asked: %+v", seed, q)
			}
			continue
		}
		s, err := c.Scenario()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		cluster, made := s.Cluster(t), s.Made(t)
		asks := len(s.Delete) + len(s.Patch) + len(s.Evict) + len(s.Drain) + made.Objects()
		if len(cluster.Nodes) < 2 || asks == 0 {
			t.Errorf("seed %d: %d nodes, a change of %d parts", seed, len(cluster.Nodes), asks)
		}
	}
}

func TestShrinkLeavesWhatMatters(t *testing.T) {
	matters := []string{"nodes:", "name: b", "cpu: "}
	differs := func(c huntCase) bool {
		for _, text := range matters {
			if !strings.Contains(c.Text(), text) {
				return false
			}
		}
		return true
	}
	c := generate(4)
	if !differs(c) {
		t.Fatal("the case has nothing of what matters")
	}
	before := c.Text()
	small := shrunk(c, differs)
	lines := strings.Count(small.Text(), "\n")
	if !differs(small) || lines > 12 {
		t.Errorf("%d lines are left:\n%s", lines, small.Text())
	}
	if c.Text() != before {
		t.Error("the case itself was changed")
	}
}
