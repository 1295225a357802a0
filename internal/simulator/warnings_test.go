package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
)

// console is where the simulator of all tests warns.
var console testkit.Log

// listen forgets what was said and how often, so that the next warning is there.
func listen() {
	limited := sim.warnings.Writer().(*warnings)
	limited.mu.Lock()
	defer limited.mu.Unlock()
	limited.few = newWarnings(nil, clock.RealClock{}).few
	limited.omitted = 0
	console.Take()
}

func TestWarningsAreFew(t *testing.T) {
	var out testkit.Log
	now := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	w := newWarnings(&out, now).of("kubelets: ")
	for range 1000 {
		w.Print("node\nn")
	}
	now.SetTime(now.Now().Add(warningsWhile))
	w.Print("again")
	want := strings.Repeat("warning: kubelets: node n\n", 5) + "warning: 995 more warnings were omitted\nwarning: kubelets: again\n"
	testkit.Equal(t, out.String(), want, "the warnings")
}

func TestWarningsOfTheKubeletsArePrinted(t *testing.T) {
	use(t, "native")
	listen()
	addNodes(t, "node-1")
	create(t, sim, "/api/v1/namespaces/default/pods", `
metadata: {name: p, annotations: {pod-complete.stage.kwok.x-k8s.io/delay: soon}}
spec: {nodeName: node-1, containers: [{name: c, image: c}]}`)
	eventually(t, "the annotation is warned of", func() bool {
		sim.changes.send() // look again
		return strings.Contains(console.String(), "warning: fake kubelets: pod default/p: ") && strings.Contains(console.String(), `"soon" is not a valid duration`)
	})
}

// The kubelets look at pods that are about to go.
func TestResetIsNoReasonForWarnings(t *testing.T) {
	use(t, "native")
	in := &snapshot.Snapshot{Nodes: []v1.Node{objects.PlainNode("node-1", "a", "4")}}
	for i := range 100 {
		in.Pods = append(in.Pods, objects.On(objects.PlainPod(fmt.Sprint("p-", i), "1m"), "node-1"))
	}
	listen()
	for range 2 { // what is said of one round, has been said when the next one's pods run
		testkit.Must(t, sim.Import(t.Context(), in.DeepCopy(), nil))
		eventually(t, "all pods run", func() bool {
			pods, _ := sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
			return len(pods) == 100 && !slices.ContainsFunc(pods, func(p *v1.Pod) bool { return p.Status.Phase != v1.PodRunning })
		})
		reset(t)()
	}
	addNodes(t, "node-2")
	addPod(t, "last", "")
	attempt(t, "last", recorder.Scheduled)
	testkit.Equal(t, console.String(), "", "the warnings")
}
