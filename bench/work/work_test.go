package work

import "testing"

func TestObjectsAreAsBigAsRealOnes(t *testing.T) {
	for name, tt := range map[string]struct{ size, want int }{
		"node": {NewNode(1).Size(), 6 << 10},
		"pod":  {NewPod(1, Cases()[0]).Size(), 8 << 10},
	} {
		if tt.size < tt.want*8/10 || tt.size > tt.want*12/10 {
			t.Errorf("a %s has %d bytes, want about %d", name, tt.size, tt.want)
		}
	}
}

func TestEveryPatternMatchesSomethingInEveryCluster(t *testing.T) {
	for _, size := range []int{100, 1000, 5000} {
		cluster := NewCluster(size)
		if len(cluster.byName) != size {
			t.Errorf("%d names for %d nodes", len(cluster.byName), size)
		}
		for _, c := range Cases() {
			n, err := c.Want(cluster)
			if err != nil {
				t.Error(err)
			}
			t.Logf("%5d nodes, %-18s %5d match", size, c.Name, n)
		}
	}
}
