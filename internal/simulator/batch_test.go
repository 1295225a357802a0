package simulator

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// batching is a configuration with which pods can be signed: with its usual
// defaults PodTopologySpread signs none.
const batching = `kind: KubeSchedulerConfiguration
apiVersion: kubescheduler.config.k8s.io/v1
profiles:
- plugins: {multiPoint: {enabled: [{name: RegexScheduling}]}}
  pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List}}]
`

// otherScheduler leaves pods of the default scheduler alone.
const otherScheduler = `kind: KubeSchedulerConfiguration
apiVersion: kubescheduler.config.k8s.io/v1
profiles: [{schedulerName: other}]
`

// The scheduler goes on in its list for half a second only, so a busy machine may need more than one try.
func TestPodsThatAreAlikeAreBatchedUnlessPodTopologySpreadHasItsUsualDefaults(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1", "kubecon-2", "kubecon-3", "kubecon-4")
	config, err := SchedulerConfig("native")
	testkit.Must(t, err)
	hinted := placeAlike(t, string(config), "usual-")
	if hinted > 0 {
		t.Errorf("%d were; the documents say that none is", hinted)
	}
	round := 0
	eventually(t, "a pod gets the node that it was hinted at", func() bool {
		round++
		return placeAlike(t, batching, fmt.Sprintf("round-%d-", round)) > 0
	})
}

// placeAlike puts three pods before a scheduler at once, each as large as a node,
// takes them away again, and returns how many were hinted at their node.
func placeAlike(t *testing.T, config, prefix string) (hinted int) {
	t.Helper()
	apply(t, otherScheduler)
	names := []string{prefix + "a", prefix + "b", prefix + "c"}
	for _, name := range names {
		addPodWith(t, name, "kubecon-[123]", "600")
	}
	apply(t, config)
	for _, name := range names {
		a := attempt(t, name, recorder.Scheduled)
		if a.Hint != nil {
			hinted++
			isHintedAt(t, a)
		} else if a.Evaluated < 3 { // and the one that does not match
			t.Errorf("no hint, and %d nodes: %+v", a.Evaluated, a)
		}
	}
	for _, name := range names {
		now := int64(0)
		testkit.Must(t, sim.Client().CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	}
	return hinted
}

// isHintedAt checks an attempt that went on in the list for another pod.
func isHintedAt(t *testing.T, a recorder.Attempt) {
	t.Helper()
	if a.Hint.Node != a.Node || a.Evaluated != 1 || a.Total != 4 || len(a.Scores()) > 0 {
		t.Errorf("got %+v", a)
	}
	of := sim.Recorder().Attempts("default", a.Hint.Pod[len("default/"):])
	if len(of) == 0 || of[0].Hint != nil || len(of[0].Scores()) < 2 {
		t.Errorf("the pod %s of the list: got %+v", a.Hint.Pod, of)
	}
}
