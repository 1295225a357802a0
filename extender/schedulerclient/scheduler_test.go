package schedulerclient_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/corpus"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/pki"
)

// asScheduler is kube-scheduler's own client of extenders, as its
// configuration makes it.
func asScheduler(t *testing.T, url string, change func(*schedulerapi.Extender)) framework.Extender {
	t.Helper()
	c := &schedulerapi.Extender{URLPrefix: url, FilterVerb: "filter", PrioritizeVerb: "prioritize", Weight: 10, HTTPTimeout: metav1.Duration{Duration: patience}}
	change(c)
	e, err := scheduler.NewHTTPExtender(c)
	must(t, err)
	return e
}

// nodeInfos are n nodes as the scheduler has them.
func nodeInfos(n int) (all []framework.NodeInfo) {
	for i := range n {
		node := corpus.Node(i)
		info := schedframework.NewNodeInfo()
		info.SetNode(&node)
		all = append(all, info)
	}
	return all
}

// outcome is what the scheduler makes of the answer to filter, as text.
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
	address := start(t, config.TLS{})
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

// TestTheExtenderDoesNotPreempt: kube-scheduler does not ask it to, and who says that
// it should learns that there is no such verb.
func TestTheExtenderDoesNotPreempt(t *testing.T) {
	url := "http://" + start(t, config.TLS{})
	if asScheduler(t, url, func(*schedulerapi.Extender) {}).SupportsPreemption() {
		t.Error("it is asked without preemptVerb")
	}
	e := asScheduler(t, url, func(c *schedulerapi.Extender) { c.PreemptVerb = "preempt" })
	if _, err := e.ProcessPreemption(corpus.Pod(""), nil, nil); err == nil || !strings.Contains(err.Error(), "code 404") {
		t.Errorf("with preemptVerb: got %v, want status 404", err)
	}
}

// TestKubeSchedulerGetsItsNodesBackUnchanged compares what it decodes from the
// answer with what it sent.
func TestKubeSchedulerGetsItsNodesBackUnchanged(t *testing.T) {
	address := start(t, config.TLS{})
	e := asScheduler(t, "http://"+address, func(*schedulerapi.Extender) {})
	nodes := nodeInfos(300)
	passed, failed, unresolvable, err := e.Filter(corpus.Pod("kubecon"), nodes)
	if err != nil || len(failed) != 0 || len(passed)+len(unresolvable) != len(nodes) || len(passed) == 0 {
		t.Fatalf("%d passed, %d failed, %d unresolvable, %v", len(passed), len(failed), len(unresolvable), err)
	}
	sent := map[string]*corev1.Node{}
	for _, node := range nodes {
		sent[node.Node().Name] = node.Node()
	}
	for _, node := range passed {
		if got, want := node.Node().String(), sent[node.Node().Name].String(); got != want {
			t.Errorf("sent\n%s\nand got back\n%s", want, got)
		}
	}
}

// TestKubeSchedulerWithMutualTLS is tlsConfig of the scheduler's configuration.
func TestKubeSchedulerWithMutualTLS(t *testing.T) {
	servers, clients, dir := pki.New(t), pki.New(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	servers.Issue(t, in("tls.crt"), in("tls.key"), time.Hour)
	clients.Issue(t, in("client.crt"), in("client.key"), time.Hour)
	address := start(t, config.TLS{CertFile: in("tls.crt"), KeyFile: in("tls.key"), ClientCAFile: clients.File})
	good := schedulerapi.ExtenderTLSConfig{CAFile: servers.File, CertFile: in("client.crt"), KeyFile: in("client.key")}
	with := func(tls schedulerapi.ExtenderTLSConfig) string {
		e := asScheduler(t, "https://"+address, func(c *schedulerapi.Extender) { c.EnableHTTPS, c.TLSConfig = true, &tls })
		return outcome(t, e, corpus.Pod("kubecon"), nodeInfos(3))
	}
	if got := with(good); !strings.HasPrefix(got, "passed ") {
		t.Errorf("good: %s", got)
	}
	if got := with(schedulerapi.ExtenderTLSConfig{CAFile: servers.File}); !strings.Contains(got, "code 401") {
		t.Errorf("no certificate: %s", got)
	}
	good.CAFile = clients.File
	if got := with(good); !strings.Contains(got, "unknown authority") {
		t.Errorf("another authority: %s", got)
	}
}
