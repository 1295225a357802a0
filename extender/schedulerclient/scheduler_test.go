// Package schedulerclient has only tests: of the extender with kube-scheduler's own
// client of extenders. They are in their own package because they link much of Kubernetes,
// and fuzz targets beside them would instrument all of it.
package schedulerclient_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start serves an extender until the test ends and returns its address.
func start(t *testing.T) string {
	t.Helper()
	e, err := extender.Start(extender.Options{Logger: logr.Discard()})
	must(t, err)
	t.Cleanup(func() { must(t, e.Stop()) })
	return e.Address
}

// asScheduler is kube-scheduler's own client of extenders.
func asScheduler(t *testing.T, url string, change func(*schedulerapi.Extender)) framework.Extender {
	t.Helper()
	c := &schedulerapi.Extender{URLPrefix: url, FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 10, HTTPTimeout: metav1.Duration{Duration: time.Minute}}
	change(c)
	e, err := scheduler.NewHTTPExtender(c)
	must(t, err)
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
	var nodes []framework.NodeInfo
	for _, name := range []string{"node-abcde", "kubecon-1", "kubecon-2"} {
		info := schedframework.NewNodeInfo()
		info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"a": "b"}}})
		nodes = append(nodes, info)
	}
	reason := func(pattern string) string { return "node(s) didn't match the pod's node name regex " + pattern }
	for _, cacheCapable := range []bool{false, true} {
		e := asScheduler(t, "http://"+address+"/", func(c *schedulerapi.Extender) { c.NodeCacheCapable = cacheCapable })
		for pattern, want := range map[string]string{
			"":            "passed node-abcde kubecon-1 kubecon-2, failed 0, unresolvable map[]",
			`kubecon-.*`:  `passed kubecon-1 kubecon-2, failed 0, unresolvable map[node-abcde:` + reason(`"kubecon-.*"`) + `]`,
			`cncf-.*`:     `passed , failed 0, unresolvable map[kubecon-1:` + reason(`"cncf-.*"`) + ` kubecon-2:` + reason(`"cncf-.*"`) + ` node-abcde:` + reason(`"cncf-.*"`) + `]`,
			`kubecon-.*\`: `passed , failed 0, unresolvable map[kubecon-1:node(s) can't be matched: annotation scheduler.wasmkwokwizardry.io/regex: trailing backslash at end of expression`,
		} {
			if got := outcome(t, e, corpus.Pod(pattern), nodes); !strings.HasPrefix(got, want) {
				t.Errorf("nodeCacheCapable %v, %q:\ngot  %s\nwant %s", cacheCapable, pattern, got, want)
			}
		}
		scores, weight, err := e.Prioritize(corpus.Pod(""), nodes)
		if err != nil || weight != 10 || len(*scores) != 3 || (*scores)[1].Host != "kubecon-1" {
			t.Errorf("nodeCacheCapable %v: scores %v, weight %d, %v", cacheCapable, scores, weight, err)
		}
	}
}

// TestTheExtenderDoesNotPreempt: without preemptVerb it is not asked, and with one it
// answers that there is no such verb.
func TestTheExtenderDoesNotPreempt(t *testing.T) {
	url := "http://" + start(t)
	if asScheduler(t, url, func(*schedulerapi.Extender) {}).SupportsPreemption() {
		t.Error("it is asked without preemptVerb")
	}
	e := asScheduler(t, url, func(c *schedulerapi.Extender) { c.PreemptVerb = "preempt" })
	if _, err := e.ProcessPreemption(corpus.Pod(""), nil, nil); err == nil || !strings.Contains(err.Error(), "code 404") {
		t.Errorf("with preemptVerb: got %v, want status 404", err)
	}
}
