package resultannotations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/testsim"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// sim is there for all tests.
var sim *simulator.Simulator

func TestMain(m *testing.M) {
	testsim.Main(m, &sim, simulator.Config{Variant: "native", ResultAnnotations: true})
}

const prefix = "kube-scheduler-simulator.sigs.k8s.io/"

// results are the annotations as kube-scheduler-simulator's readers decode them.
type results struct {
	node                                                 string
	preFilter                                            map[string][]string
	preFilterStatus, preScore, reserve, permit, timeouts map[string]string
	preBind, bind                                        map[string]string
	filter, postFilter, score, finalScore                map[string]map[string]string
	history                                              []map[string]string
}

func decode(annotations map[string]string) (r results, err error) {
	var ok bool
	if r.node, ok = annotations[prefix+"selected-node"]; !ok {
		return r, errors.New("no selected-node")
	}
	for name, into := range map[string]any{
		"prefilter-result": &r.preFilter, "prefilter-result-status": &r.preFilterStatus, "filter-result": &r.filter,
		"postfilter-result": &r.postFilter, "prescore-result": &r.preScore, "score-result": &r.score,
		"finalscore-result": &r.finalScore, "reserve-result": &r.reserve, "permit-result": &r.permit,
		"permit-result-timeout": &r.timeouts, "prebind-result": &r.preBind, "bind-result": &r.bind, "result-history": &r.history,
	} {
		jsonErr := json.Unmarshal([]byte(annotations[prefix+name]), into)
		if jsonErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w: %q", name, jsonErr, annotations[prefix+name]))
		}
	}
	return r, err
}

// add imports objects.
func add(t *testing.T, text string) {
	t.Helper()
	in, _, err := snapshot.Read(strings.NewReader(text))
	testkit.Must(t, err)
	testkit.Must(t, sim.Import(t.Context(), in, nil))
}

func addNodes(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		add(t, "nodes: [{metadata: {name: "+name+"}, status: {capacity: &room {cpu: '9', memory: 9Gi, pods: '9'}, allocatable: *room}}]")
	}
}

func addPod(t *testing.T, name, pattern string) {
	t.Helper()
	add(t, "pods: [{metadata: {name: "+name+", namespace: default, annotations: {"+regex.Annotation+": '"+pattern+"'}}, spec: {containers: [{name: web, image: web}]}}]")
}

// resultsOf waits until a pod has its annotations.
func resultsOf(t *testing.T, name string) (r results) {
	t.Helper()
	testkit.Eventually(t, "pod "+name+" has its results", func(ctx context.Context) error {
		pod, err := sim.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if r, err = decode(pod.Annotations); err != nil {
			return fmt.Errorf("%w, in %+v, which is on node %q", err, pod.Annotations, pod.Spec.NodeName)
		}
		if r.node != pod.Spec.NodeName || r.node == "" {
			return fmt.Errorf("selected-node is %q, the pod on node %q", r.node, pod.Spec.NodeName)
		}
		return nil
	})
	return r
}

// begin is a scheduler that knows all the nodes there are.
func begin(t *testing.T, nodes ...string) {
	t.Helper()
	addNodes(t, nodes...)
	testkit.Must(t, sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()))
	t.Cleanup(func() { testkit.Must(t, sim.Reset(context.Background())) })
}

func TestScheduledPodHasItsResults(t *testing.T) {
	kubecons := []string{"kubecon-1", "kubecon-2", "kubecon-3", "kubecon-4", "kubecon-5"} // too many to be named
	begin(t, append(kubecons, "other")...)
	addPod(t, "p", "kubecon-")
	r := resultsOf(t, "p")
	if !strings.Contains(r.filter["other"]["RegexScheduling"], "didn't match") || r.filter["other"]["NodeUnschedulable"] != "passed" {
		t.Errorf("filter-result of node other: %v", r.filter["other"])
	}
	got := r.filter[r.node]
	if got["RegexScheduling"] != "passed" || got["NodeResourcesFit"] != "passed" {
		t.Errorf("filter-result of the node: %v", got)
	}
	nodes := slices.Sorted(maps.Keys(r.score))
	testkit.Equal(t, nodes, kubecons, "the nodes of score-result")
	// TaintToleration: no taint is the best there is, and counts three times.
	if r.score[r.node]["TaintToleration"] != "0" || r.finalScore[r.node]["TaintToleration"] != "300" {
		t.Errorf("score-result %v, finalscore-result %v", r.score[r.node], r.finalScore[r.node])
	}
	for node, scores := range r.finalScore {
		for plugin, score := range scores {
			if _, err := strconv.Atoi(score); err != nil {
				t.Errorf("node %s, plugin %s: %v", node, plugin, err)
			}
		}
	}
	if r.preFilterStatus["NodeResourcesFit"] != "success" || r.reserve["VolumeBinding"] != "success" || r.bind["DefaultBinder"] != "success" {
		t.Errorf("prefilter-result-status %v, reserve-result %v, bind-result %v", r.preFilterStatus, r.reserve, r.bind)
	}
	status, ok := r.preFilterStatus["NodeAffinity"]
	if !ok || status != "" {
		t.Errorf("NodeAffinity, which does not care: %v", r.preFilterStatus)
	}
	if len(r.preFilter)+len(r.postFilter) > 0 || len(r.history) != 1 || r.history[0][prefix+"selected-node"] != r.node {
		t.Errorf("got %+v", r)
	}

	addPod(t, "few", "^kubecon-[12]$")
	r = resultsOf(t, "few")
	named := slices.Sorted(slices.Values(r.preFilter["RegexScheduling"]))
	if !slices.Equal(named, kubecons[:2]) || len(r.filter) != 2 {
		t.Errorf("prefilter-result %v, filter-result of %v", r.preFilter, slices.Sorted(maps.Keys(r.filter)))
	}
}

// TestPendingPodIsNotChanged: to be written to would wake it.
func TestPendingPodIsNotChanged(t *testing.T) {
	begin(t, "kubecon-1")
	addPod(t, "waiting", "^late$")
	testkit.Eventually(t, "the pod is tried", func(context.Context) error {
		n := len(sim.Recorder().Attempts("default", "waiting"))
		if n != 1 {
			return fmt.Errorf("%d attempts", n)
		}
		return nil
	})
	addPod(t, "other", "kubecon-")
	resultsOf(t, "other")
	pod, err := sim.Client().CoreV1().Pods("default").Get(t.Context(), "waiting", metav1.GetOptions{})
	testkit.Must(t, err)
	attempts := sim.Recorder().Attempts("default", "waiting")
	if len(pod.Annotations) != 1 || len(attempts) != 1 {
		t.Errorf("annotations %v after %d attempts", pod.Annotations, len(attempts))
	}
	addNodes(t, "late")
	r := resultsOf(t, "waiting")
	if len(r.history) < 2 || r.history[0][prefix+"selected-node"] != "" || r.history[len(r.history)-1][prefix+"selected-node"] != "late" {
		t.Errorf("history %v", r.history)
	}
	testkit.Has(t, r.history[0][prefix+"prefilter-result-status"], "RegexScheduling")
}
