package wasmhost

import (
	"runtime"
	"testing"
	"time"
	"weak"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A kubelet renews its node's status all the time. The scheduler then has another Node in
// the same NodeInfo.
func TestNodeThatIsRenewedIsFoundAtOnceAndTheOldOneIsNotKept(t *testing.T) {
	for _, guest := range []string{"decides_by", "decides_by_zone"} {
		t.Run(guest, func(t *testing.T) {
			r := openRemembering(t, guest, Args{}, inZone("n1", "west"), inZone("m1", "east"))
			passing, _, _ := r.cycle(t, about("web", "x"))
			asked := r.asked(t)
			var old []weak.Pointer[v1.Node]
			for _, info := range r.Nodes {
				old = append(old, weak.Make(info.Node()))
				info.(*framework.NodeInfo).SetNode(info.Node().DeepCopy())
			}
			again, _, _ := r.cycle(t, about("web", "x"))
			if again != passing || passing != "n1" || r.asked(t) != asked {
				t.Errorf("passing %q, and then %q; asked %d times, and then %d", passing, again, asked, r.asked(t))
			}
			for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
				kept := 0
				for _, node := range old {
					if node.Value() != nil {
						kept++
					}
				}
				if kept == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d old nodes are still there after a minute", kept)
				}
			}
		})
	}
}
