// Package schedulerclient has only tests: of the extender with kube-scheduler's own
// client of extenders. They are in their own package because they link much of Kubernetes,
// and fuzz targets beside them would instrument all of it.
package schedulerclient_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/objects"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

// start serves an extender until the test ends and returns its address.
func start(t *testing.T) string {
	t.Helper()
	e, err := extender.Start(extender.Options{Logger: logr.Discard()})
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, e.Stop()) })
	return e.Address
}

// asScheduler is kube-scheduler's own client of extenders.
func asScheduler(t *testing.T, url string, change func(*schedulerapi.Extender)) framework.Extender {
	t.Helper()
	c := &schedulerapi.Extender{URLPrefix: url, FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 10, HTTPTimeout: metav1.Duration{Duration: time.Minute}}
	change(c)
	e, err := scheduler.NewHTTPExtender(c)
	testkit.Must(t, err)
	return e
}

// outcome is the result of filter in the scheduler, as text.
func outcome(t *testing.T, e framework.Extender, pod *corev1.Pod, nodes []framework.NodeInfo) string {
	t.Helper()
	passed, failed, unresolvable, err := e.Filter(pod, nodes)
	if err != nil {
		return "error: " + err.Error()
	}
	var names []string
	for _, node := range passed {
		names = append(names, node.Node().Name)
	}
	return fmt.Sprintf("passed %s, failed %d, unresolvable %v", strings.Join(names, " "), len(failed), unresolvable)
}

// TestKubeSchedulersOwnClient has two nodes of three match, all, none, and an
// invalid regex; with full nodes and with names.
func TestKubeSchedulersOwnClient(t *testing.T) {
	address := start(t)
	nodes := threeNodes().Nodes
	reason := func(pattern string) string { return "node(s) didn't match the pod's node name regex " + pattern }
	for _, cacheCapable := range []bool{false, true} {
		e := asScheduler(t, "http://"+address+"/", func(c *schedulerapi.Extender) { c.NodeCacheCapable = cacheCapable })
		for pattern, want := range map[string]string{
			"":            "passed node-abcde kubecon-1 kubecon-2, failed 0, unresolvable map[]",
			`kubecon-.*`:  `passed kubecon-1 kubecon-2, failed 0, unresolvable map[node-abcde:` + reason(`"kubecon-.*"`) + `]`,
			`cncf-.*`:     `passed , failed 0, unresolvable map[kubecon-1:` + reason(`"cncf-.*"`) + ` kubecon-2:` + reason(`"cncf-.*"`) + ` node-abcde:` + reason(`"cncf-.*"`) + `]`,
			`kubecon-.*\`: `passed , failed 0, unresolvable map[kubecon-1:node(s) can't be matched: annotation scheduler.wasmkwokwizardry.io/regex: trailing backslash at end of expression`,
		} {
			got := outcome(t, e, corpus.Pod(pattern), nodes)
			if !strings.HasPrefix(got, want) {
				t.Errorf("nodeCacheCapable %v, %q:\ngot  %s\nwant %s", cacheCapable, pattern, got, want)
			}
		}
		scores, weight, err := e.Prioritize(corpus.Pod(""), nodes)
		if err != nil || weight != 10 || len(*scores) != 3 || (*scores)[1].Host != "kubecon-1" {
			t.Errorf("nodeCacheCapable %v: scores %v, weight %d, %v", cacheCapable, scores, weight, err)
		}
	}
}

func threeNodes() *snapshot.Handle {
	var nodes []*corev1.Node
	for i, name := range []string{"node-abcde", "kubecon-1", "kubecon-2"} {
		nodes = append(nodes, objects.Node(name, i))
	}
	return snapshot.Of(nodes...)
}

// The scheduler's client must find each victim again. It takes an empty answer for no node.
func TestPreemptionIsLimitedToNodesThatTheRegexMatches(t *testing.T) {
	address := start(t)
	nodes, candidates := threeNodes(), map[string]*extenderv1.Victims{}
	for i, info := range nodes.Nodes {
		victims := &extenderv1.Victims{NumPDBViolations: int64(i)}
		for j := range i + 1 {
			pod := corpus.Pod("")
			pod.Name = fmt.Sprintf("low-%d-%d", i, j)
			pod.UID = types.UID("uid of " + pod.Name)
			info.AddPodInfo(snapshot.PodInfo(pod))
			victims.Pods = append(victims.Pods, pod)
		}
		candidates[info.Node().Name] = victims
	}
	for _, cacheCapable := range []bool{false, true} {
		e := asScheduler(t, "http://"+address, func(c *schedulerapi.Extender) { c.PreemptVerb, c.NodeCacheCapable = "preempt", cacheCapable })
		for pattern, matching := range map[string][]string{
			"":            {"node-abcde", "kubecon-1", "kubecon-2"},
			"kubecon-.*":  {"kubecon-1", "kubecon-2"},
			"^ghost$":     nil,
			`kubecon-.*\`: nil,
		} {
			want := map[string]*extenderv1.Victims{}
			for _, name := range matching {
				want[name] = candidates[name]
			}
			got, err := e.ProcessPreemption(corpus.Pod(pattern), candidates, nodes.SnapshotSharedLister().NodeInfos())
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("nodeCacheCapable %v, %q: got %+v, %v; want the victims of %q", cacheCapable, pattern, got, err, matching)
			}
		}
	}
}
