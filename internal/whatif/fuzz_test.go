package whatif_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/drain"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/fit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/why"
)

// questions are what can be asked about a cluster. Each uses it up.
var questions = []struct {
	name string
	ask  func(context.Context, engine.Options) error
}{
	{"drain", func(ctx context.Context, o engine.Options) error {
		_, err := drain.Drain(ctx, drain.Options{Options: o, Nodes: nodesOf(o), Force: true})
		return err
	}},
	{"shrink", func(ctx context.Context, o engine.Options) error {
		_, err := drain.Shrink(ctx, drain.Options{Options: o, Nodes: nodesOf(o)})
		return err
	}},
	{"upgrade", func(ctx context.Context, o engine.Options) error {
		_, err := drain.Upgrade(ctx, drain.Options{Options: o, Nodes: nodesOf(o), Force: true})
		return err
	}},
	{"fail", func(ctx context.Context, o engine.Options) error {
		_, err := drain.Fail(ctx, drain.Options{Options: o, Nodes: nodesOf(o)})
		return err
	}},
	{"fit", func(ctx context.Context, o engine.Options) error {
		manifests, err := fit.Read([]string{"-"}, strings.NewReader(asked), fit.Namespace{})
		if err != nil {
			return err
		}
		_, err = fit.Fit(ctx, fit.Options{Options: o, Manifests: manifests})
		return err
	}},
	{"why", func(ctx context.Context, o engine.Options) error {
		_, err := why.Why(ctx, why.Options{Options: o, Pod: podOf(o)})
		return err
	}},
	{"compare", func(ctx context.Context, o engine.Options) error {
		s, err := side.New(ctx, side.Options{Options: o, Pods: side.All})
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.Run(ctx)
		return err
	}},
}

const asked = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: asked}, spec: {replicas: 2, selector: {matchLabels: {app: asked}},
  template: {metadata: {labels: {app: asked}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 100m}}}]}}}}`

// nodesOf names at most two nodes.
func nodesOf(o engine.Options) (names []string) {
	for i := range o.Cluster.Nodes[:min(2, len(o.Cluster.Nodes))] {
		names = append(names, o.Cluster.Nodes[i].Name)
	}
	return names
}

// podOf names a pod without a node, or any.
func podOf(o engine.Options) types.NamespacedName {
	at := slices.IndexFunc(o.Cluster.Pods, func(pod v1.Pod) bool { return pod.Spec.NodeName == "" })
	pod := o.Cluster.Pods[max(0, at)]
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// clusters are files that were read before, as JSON.
func clusters(f *testing.F) (all [][]byte) {
	f.Helper()
	for _, pattern := range []string{"testdata/scenarios/*.yaml", "../../simulator/command/testdata/ends/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			testkit.Must(f, err)
			documents := strings.Split(string(text), "\n---\n")
			text, err = yaml.YAMLToJSON([]byte(documents[min(1, len(documents)-1)]))
			testkit.Must(f, err)
			all = append(all, text)
		}
	}
	return all
}

// place is a value of a document, and how to put another there.
type place struct {
	value any
	set   func(any)
}

// places are all values below one, in an order that does not change.
func places(value any) (all []place) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, place{value[key], func(to any) { value[key] = to }})
			all = append(all, places(value[key])...)
		}
	case []any:
		for i := range value {
			all = append(all, place{value[i], func(to any) { value[i] = to }})
			all = append(all, places(value[i])...)
		}
	}
	return all
}

// Values in place of another one.
var (
	texts = []string{
		"", "x", "Unknown", "False", "0", "-1", "9999999999", "1e9", "1Ti", "100%", "2026-11-01T09:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
		"Job", "DaemonSet", "StatefulSet", "Deployment", "Node", "Widget", "Succeeded", "OnDelete", "Recreate", "default", "kube-system",
	}
	numbers = []float64{0, 1, -1, 2, 5, 100, math.MaxInt32, math.MinInt32, 1 << 53}
)

// grafts are what an object may have, too.
var grafts = []string{
	`{metadata: {finalizers: [example.com/mine]}}`,
	`{metadata: {finalizers: [batch.kubernetes.io/job-tracking]}}`,
	`{metadata: {deletionTimestamp: "2026-11-01T09:00:00Z", finalizers: [example.com/mine]}}`,
	`{metadata: {creationTimestamp: "2026-11-01T09:00:00Z"}}`,
	`{metadata: {ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: u, controller: true}]}}`,
	`{metadata: {ownerReferences: [{apiVersion: batch/v1, kind: Job, name: batch, uid: j, controller: true}]}}`,
	`{metadata: {ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d, controller: true}]}}`,
	`{metadata: {ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: w, uid: w, controller: true}]}}`,
	`{status: {conditions: [{type: Ready, status: Unknown, lastTransitionTime: "2026-11-01T09:00:00Z"}]}}`,
	`{status: {conditions: [{type: Ready, status: "False"}]}}`,
	`{status: {phase: Pending}}`,
	`{status: {startTime: "2026-11-01T09:00:00Z"}}`,
	`{status: {conditions: [{type: Progressing, status: "True", reason: NewReplicaSetAvailable, lastUpdateTime: "2026-11-01T09:00:00Z"}]}}`,
	`{spec: {activeDeadlineSeconds: 600}}`,
	`{spec: {backoffLimit: 0, ttlSecondsAfterFinished: 1}}`,
	`{spec: {progressDeadlineSeconds: 1, minReadySeconds: 0}}`,
	`{spec: {minReadySeconds: 2147483647}}`,
	`{spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}}`,
	`{spec: {tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 30}]}}`,
	`{spec: {tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 9223372036854775807}]}}`,
	`{spec: {tolerations: [{operator: Exists}]}}`,
	`{spec: {schedulingGates: [{name: example.com/gate}]}}`,
	`{spec: {priority: 1000}}`,
	`{spec: {unschedulable: true}}`,
	`{spec: {replicas: 100}}`,
	`{spec: {terminationGracePeriodSeconds: 9223372036854775807}}`,
}

// workloads are put into a document, each with pods that it selects.
var workloads = []string{
	`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default, uid: dep}, spec: {replicas: 3, selector: {matchLabels: {app: web}},
	  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}}`,
	`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: default, uid: u}, spec: {replicas: 3, serviceName: db, selector: {matchLabels: {app: db}},
	  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}}`,
	`{apiVersion: batch/v1, kind: Job, metadata: {name: batch, namespace: default, uid: j}, spec: {parallelism: 3, completions: 5, selector: {matchLabels: {batch.kubernetes.io/controller-uid: j}},
	  template: {metadata: {labels: {batch.kubernetes.io/controller-uid: j}}, spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: "1"}}}]}}}}`,
	`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent, namespace: default, uid: d}, spec: {selector: {matchLabels: {app: agent}},
	  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: "100m"}}}]}}}}`,
	`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: all, namespace: default}, spec: {minAvailable: 50%, selector: {}}}`,
}

// mutated is a document as JSON that was changed in places. Four bytes are a change: where, two of them, of what kind, and to what.
func mutated(t *testing.T, document []byte, changes []byte) []byte {
	t.Helper()
	var root any
	testkit.Must(t, json.Unmarshal(document, &root))
	for ; len(changes) >= 4; changes = changes[4:] {
		all := places(root)
		at, kind, to := all[(int(changes[0])<<8|int(changes[1]))%len(all)], changes[2], int(changes[3])
		switch value := at.value.(type) {
		case string:
			at.set(texts[to%len(texts)])
		case float64:
			at.set(numbers[to%len(numbers)])
		case bool:
			at.set(!value)
		case []any:
			switch {
			case len(value) > 0 && kind%2 == 0:
				at.set(append(value, value[to%len(value)]))
			case len(value) > 0:
				at.set(slices.Delete(value, to%len(value), to%len(value)+1))
			}
		case map[string]any:
			merge(value, parsed(t, grafts[to%len(grafts)]))
		}
		list, ok := root.(map[string]any)["items"].([]any)
		if ok && kind < 64 {
			root.(map[string]any)["items"] = append(list, parsed(t, workloads[to%len(workloads)]))
		}
	}
	text, err := json.Marshal(root)
	testkit.Must(t, err)
	return text
}

func parsed(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	testkit.Must(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

func merge(into, from map[string]any) {
	for key, value := range from {
		below, ok := into[key].(map[string]any)
		if more, is := value.(map[string]any); ok && is {
			merge(below, more)
			continue
		}
		into[key] = value
	}
}

// FuzzFilesEnd changes clusters in some places, and asks a question about each: it ends in an answer or an error, and takes memory
// that follows from the size of the file.
func FuzzFilesEnd(f *testing.F) {
	files := clusters(f)
	for i := range 3 * len(questions) {
		f.Add(uint16(61*i), uint8(i), bytes.Repeat([]byte{byte(7 * i), byte(31 * i), byte(i), byte(3 * i)}, i%4))
	}
	config, err := kubescheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	testkit.Must(f, err)
	f.Fuzz(func(t *testing.T, file uint16, question uint8, decisions []byte) {
		decisions = decisions[:min(len(decisions), 40)]
		text := mutated(t, files[int(file)%len(files)], decisions)
		s, _, err := snapshot.Read(bytes.NewReader(text))
		if err != nil || len(s.Nodes) == 0 || len(s.Pods) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		q := questions[int(question)%len(questions)]
		err = q.ask(ctx, engine.Options{Config: config, Cluster: s, Seed: 1})
		runtime.ReadMemStats(&after)
		if ctx.Err() != nil {
			t.Errorf("%s: no answer: %v\n%s", q.name, err, text)
		}
		const few, each = 1 << 30, 1 << 20
		if took := after.TotalAlloc - before.TotalAlloc; took > few+each*uint64(len(text)) {
			t.Errorf("%s: %d MiB for a file of %d bytes:\n%s", q.name, took>>20, len(text), text)
		}
	})
}
