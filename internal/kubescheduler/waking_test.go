package kubescheduler

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/metrics/legacyregistry"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// taint keeps pods off a node that do not tolerate it, and gate keeps its pod out of the queue.
var (
	taint = v1.Taint{Key: "example.com/reserved", Effect: v1.TaintEffectNoSchedule}
	gate  = v1.PodSchedulingGate{Name: "example.com/not-yet"}
)

// fixes are the ways in which a pending pod gets another annotation. The scheduler names
// an update after one of its parts, so a change of the annotation beside another field is
// another event than a change of the annotation alone.
var fixes = map[string]struct {
	taints  []v1.Taint         // of the one node
	pod     func(*v1.Pod)      // before it is created
	pending func(*v1.Pod) bool // before it is fixed
	also    func(*v1.Pod)      // what changes with the annotation
}{
	"alone":        {pending: isPending},
	"with a label": {pending: isPending, also: func(pod *v1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, "fixed", "yes") }},
	"with a toleration": {taints: []v1.Taint{taint}, pending: isPending, also: func(pod *v1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{Key: taint.Key, Operator: v1.TolerationOpExists})
	}},
	"with its scheduling gate": {
		pod:     func(pod *v1.Pod) { pod.Spec.SchedulingGates = []v1.PodSchedulingGate{gate} },
		pending: isGated,
		also:    func(pod *v1.Pod) { pod.Spec.SchedulingGates = nil },
	},
}

// TestPendingPodIsRetriedAfterWhatHelpsIt checks the events that each plugin
// registers: of the native one's, and of the guests' numbers, which the host
// translates into those of this Kubernetes.
func TestPendingPodIsRetriedAfterWhatHelpsIt(t *testing.T) {
	variants := map[string]Options{"native": {Config: profileWith(t, "RegexScheduling", "{}")}}
	for _, guest := range []string{"regex_v1", "regex_v2", "patient"} {
		variants[guest] = Options{Config: profileWith(t, "Wasm", "{guestURL: 'http://static-webserver/"+guest+".wasm'}"), Transport: inProcess{}}
	}
	for variant, o := range variants {
		t.Run(variant, func(t *testing.T) {
			o.Kubeconfig = cluster.Kubeconfig()
			start(t, o)
			t.Run("by a node", retriedAfterANode)
			for name := range fixes {
				t.Run("by its annotation "+name, func(t *testing.T) { retriedAfterItsAnnotation(t, name) })
			}
		})
	}
}

func retriedAfterANode(t *testing.T) {
	addNode(t, "other")
	create(t, podFor("patient", "^k"))
	waitFor(t, "patient", isPending)
	addNode(t, "k-1")
	waitFor(t, "patient", isOn("k-1"))
}

func retriedAfterItsAnnotation(t *testing.T, name string) {
	way := fixes[name]
	addNode(t, "other", way.taints...)
	pod := podFor("fixed", "^no-node$")
	// The scheduler may not know yet that k-1 was deleted, and patient.wat would take it.
	pod.Spec.NodeSelector = map[string]string{v1.LabelHostname: "other"}
	if way.pod != nil {
		way.pod(pod)
	}
	create(t, pod)
	waitFor(t, "fixed", way.pending)
	change(t, "fixed", func(pod *v1.Pod) {
		pod.Annotations[regex.Annotation] = "letg|other" // patient.wat looks for letg
		if way.also != nil {
			way.also(pod)
		}
	})
	waitFor(t, "fixed", isOn("other"))
}

// TestPendingPodIsTriedWithANewGuest replaces the guest's file by a guest that lets its pod run: nothing else has happened.
func TestPendingPodIsTriedWithANewGuest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guest.wasm")
	put := func(guest string) {
		wasm := testkit.ReadFile(t, "../testdata/guests/"+guest+".wasm")
		testkit.Must(t, os.WriteFile(path+".new", wasm, 0o644))
		testkit.Must(t, os.Rename(path+".new", path))
	}
	put("letter")
	start(t, Options{Kubeconfig: cluster.Kubeconfig(), Config: profileWith(t, "Reloaded", "{guestURL: 'file://"+path+"', instances: 1, reload: 1s}")})
	addNode(t, "other")
	create(t, podFor("patient", ""))
	waitFor(t, "patient", isPending)
	put("empty_filter")
	waitFor(t, "patient", isOn("other"))
	testkit.Eventually(t, "the guest before is closed", func(context.Context) error {
		runtime.GC() // which finds out that its last attempt is over
		w := httptest.NewRecorder()
		legacyregistry.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		instances := regexp.MustCompile(`scheduler_wasm_guest_instances\{plugin="Reloaded"\} (\d+)`).FindStringSubmatch(w.Body.String())
		if instances == nil || instances[1] != "1" {
			return fmt.Errorf("instances: %q", instances)
		}
		return nil
	})
}

// change updates a pod, all at once.
func change(t *testing.T, name string, how func(*v1.Pod)) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(pod)
		_, err = pods.Update(t.Context(), pod, metav1.UpdateOptions{})
		return err
	})
	testkit.Must(t, err)
}
