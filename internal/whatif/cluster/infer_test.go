package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
)

// TestAnAPIServerStoresWhatIsLoadedAndInferred creates and updates each workload, revision and pod of all fixtures.
func TestAnAPIServerStoresWhatIsLoadedAndInferred(t *testing.T) {
	clusters := map[string]*snapshot.Snapshot{}
	for _, s := range slices.Concat(scenarios.All(t, "../testdata/scenarios"), scenarios.All(t, "../testdata/unsteady")) {
		clusters[s.Name] = s.Cluster(t)
	}
	files, err := filepath.Glob("../testdata/truth/*/cluster.yaml")
	testkit.Must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		testkit.Must(t, err)
		clusters[file], _, err = snapshot.Read(bytes.NewReader(text))
		testkit.Must(t, err)
	}
	inferred := 0
	for name, s := range clusters {
		c, err := New(time.Now)
		testkit.Must(t, err)
		testkit.Must(t, c.Load(s))
		for _, k := range c.kinds {
			for _, o := range typed[Object](k.informer.table.List()) {
				_, isPod := o.(*v1.Pod)
				_, isRevision := o.(*appsv1.ControllerRevision)
				if !isPod && !isRevision && snapshot.PodTemplate(o) == nil {
					continue
				}
				if isInferred(o) {
					inferred++
				}
				c.checkStored(t, name, k, o)
			}
		}
	}
	if inferred == 0 {
		t.Error("nothing was inferred")
	}
}

func (c *Cluster) checkStored(t *testing.T, file string, k *kind, o Object) {
	t.Helper()
	job, isJob := o.(*batchv1.Job)
	if isJob {
		job = job.DeepCopy()
		job.Spec.ManualSelector = ptr.To(true) // a fixture's has not its UID
		o = job
	}
	created, changed := o.DeepCopyObject().(Object), o.DeepCopyObject().(Object)
	pod, isPod := created.(*v1.Pod)
	if isPod {
		unmerge(&pod.Spec)
		pod.Spec.EphemeralContainers, pod.Spec.Priority, pod.Spec.PreemptionPolicy, pod.Spec.Overhead = nil, nil, nil, nil
	}
	created.SetResourceVersion("")
	_, err := c.prepare(t.Context(), k, created, nil, "")
	if apierrors.IsInvalid(err) {
		t.Errorf("%s: create %s %s: %v", file, k.kind.Kind, NameOf(o), err)
	}
	changed.SetLabels(labels.Merge(changed.GetLabels(), labels.Set{"changed": "yes"}))
	_, err = c.prepare(t.Context(), k, changed, o, "")
	if apierrors.IsInvalid(err) {
		t.Errorf("%s: update %s %s: %v", file, k.kind.Kind, NameOf(o), err)
	}
}

// TestWhatAdmissionAddsToDaemonSets: neither what the controller adds to each pod, nor containers that the template has dropped.
func TestWhatAdmissionAddsToDaemonSets(t *testing.T) {
	for generation, want := range map[string]string{"1": "[what admission adds to pods of DaemonSet default/logs (containers, nodeSelector)]", "2": "[revisions of DaemonSet default/logs]"} {
		s, _, err := snapshot.Read(strings.NewReader(`
nodes:
- {metadata: {name: node, labels: {pool: x}}}
daemonSets:
- metadata: {name: logs, namespace: default, uid: logs, annotations: {deprecated.daemonset.template.generation: "` + generation + `"}}
  spec:
    updateStrategy: {type: OnDelete}
    selector: {matchLabels: {app: logs}}
    template: {metadata: {labels: {app: logs}}, spec: {containers: [{name: c, image: c}]}}
pods:
- metadata:
    name: logs-1
    namespace: default
    labels: {app: logs, controller-revision-hash: first, pod-template-generation: "1"}
    ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: logs, uid: logs, controller: true}]
  spec:
    nodeName: node
    nodeSelector: {pool: x}
    tolerations: [{key: node.kubernetes.io/disk-pressure, operator: Exists, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node]}]}]}}}
    containers: [{name: c, image: c}, {name: proxy, image: c}]
`))
		testkit.Must(t, err)
		c, err := New(time.Now)
		testkit.Must(t, err)
		testkit.Must(t, c.Load(s))
		got := fmt.Sprint(c.Inferred)
		if got != want {
			t.Errorf("with generation %s of the template: %s, want %s", generation, got, want)
		}
	}
}
