package fit

import (
	"fmt"
	"os"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

const cases = "../testdata/cases/"

// caseOptions has manifests tried on a cluster, both files of a case.
func caseOptions(t *testing.T, cluster string, manifests ...string) Options {
	t.Helper()
	for i := range manifests {
		manifests[i] = cases + manifests[i]
	}
	m, err := Read(manifests, nil, Namespace{})
	testkit.Must(t, err)
	file, err := os.Open(cases + cluster)
	testkit.Must(t, err)
	defer file.Close()
	s, _, err := snapshot.Read(file)
	testkit.Must(t, err)
	config, err := kubescheduler.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"))
	testkit.Must(t, err)
	return Options{Options: engine.Options{Config: config, Cluster: s, Seed: 1}, Manifests: m}
}

// TestCases: the files are of issues of other projects. Each has what fit and rollout say.
func TestCases(t *testing.T) {
	const (
		quota    = "  1 pod would not be created: the API server rejects it: exceeded quota: rqtest, requested: pods=1, used: pods=1, limited: pods=1"
		limit    = "  1 pod would not be created: the API server rejects it: spec.containers[0].resources.requests: Invalid value: \"300Mi\": must be less than or equal to memory limit of 200Mi"
		attached = "  1 pod would stay pending: Multi-Attach error for its claim uploads: it is ReadWriteOnce, and attached to node n1 for pod docs-5d9c-x1"
		left     = "Deployment team/web: 0 of 1 fit (1 of the old revision left running)"
	)
	for name, tt := range map[string]struct {
		cluster  string
		manifest []string
		rollout  bool
		fits     bool
		want     []string
	}{
		"a quota rejects the new pod": {
			"rejected-rollout/cluster.json", []string{"rejected-rollout/new.yaml"}, false, false, []string{"1 pod would not be created.", left, quota},
		},
		"a rollout that maxUnavailable ends": {
			"rejected-rollout/cluster.json",
			[]string{"rejected-rollout/new.yaml"},
			true, false,
			[]string{"The rollout of Deployment team/web would not end.", left, quota, "  The rollout does not end: 1 pod of the old revision left; it would end with maxUnavailable: 1, or with type: Recreate"},
		},
		"a LimitRange rejects the new pod": {
			"rejected-rollout/limitrange.json", []string{"rejected-rollout/over-limit.yaml"}, false, false, []string{"1 pod would not be created.", left, limit},
		},
		"a rollout that no field ends": {
			"rejected-rollout/limitrange.json",
			[]string{"rejected-rollout/over-limit.yaml"},
			true, false,
			[]string{"The rollout of Deployment team/web would not end.", left, limit, "  The rollout does not end: 1 pod of the old revision left; no field"},
		},
		"a LimitRange admits the new pod": {
			"rejected-rollout/limitrange.json", []string{"rejected-rollout/new.yaml"}, true, true, []string{"The rollout of 1 workload would end."},
		},
		"two replicas with a disk of one node": {
			"one-claim/cluster.yaml", []string{"one-claim/scale.yaml"}, false, false, []string{"1 pod would stay pending.", "Deployment default/docs: 1 of 2 fit (1 running, unchanged)", attached},
		},
		"a rollout with a disk of one node": {
			"one-claim/cluster.yaml",
			[]string{"one-claim/changed.yaml"},
			true, false,
			[]string{attached, "  The rollout does not end: 1 pod of the old revision left; it would end with maxUnavailable: 1, or with type: Recreate"},
		},
		"limits of CSI": {
			"grow-csi/cluster.yaml", []string{"grow-csi/sts.yaml"}, false, false, []string{"1 pod would stay pending.", "StatefulSet default/web: 3 of 4 fit: 3 in a"},
		},
		"a namespace that is not there": {
			"one-claim/cluster.yaml",
			[]string{"rejected/psa.yaml"},
			false, true,
			[]string{"1 pod would fit.", "Not in the cluster, and created here first: namespace strict. "},
		},
		"a namespace that admits no pod in the node's network": {
			"one-claim/cluster.yaml",
			[]string{"rejected/psa.yaml", "rejected/restricted.yaml"},
			false, false,
			[]string{"1 pod would not be created.", `  1 pod would not be created: the API server rejects it: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := caseOptions(t, tt.cluster, tt.manifest...)
			try := Fit
			if tt.rollout {
				try = Rollout
			}
			f, err := try(t.Context(), o)
			testkit.Must(t, err)
			if f.Fits() != tt.fits {
				t.Errorf("it fits: %v", f.Fits())
			}
			if strings.HasSuffix(tt.want[0], ".") { // the first sentence, perhaps of an input that lacks kinds
				tt.want[0] = f.Basis.Qualify(tt.want[0]) + "."
			}
			has(t, f, tt.want...)
		})
	}
}

// TestGrowGivesNewNodesTheDriversOfThoseLikeThem: a driver attaches two disks to n1, and one to n2.
func TestGrowGivesNewNodesTheDriversOfThoseLikeThem(t *testing.T) {
	for name, want := range map[string]string{"n1": "4 pods would fit with 1 more node like n1, as far as the input shows", "new": "4 pods would fit with 1 more node like new, as far as the input shows"} {
		for _, cluster := range []string{"cluster.yaml", "with-tainted.yaml"} {
			o := caseOptions(t, "grow-csi/"+cluster, "grow-csi/sts.yaml")
			var err error
			o.GrowWith, err = ReadNode(cases+"grow-csi/node.yaml", nil)
			testkit.Must(t, err)
			o.GrowWith.Name = name
			f, err := Fit(t.Context(), o)
			testkit.Must(t, err)
			if f.Verdict() != want || f.Workloads[0].Fit != 4 {
				t.Errorf("%s on %s: %s", name, cluster, f.Verdict())
			}
		}
	}
	o := caseOptions(t, "grow-csi/cluster.yaml", "grow-csi/sts.yaml")
	o.GrowWith = o.Cluster.Nodes[1].DeepCopy() // n2, whose copies take one disk each
	set := o.Manifests.workloads[0].object
	setReplicas(set, 6)
	f, err := Fit(t.Context(), o)
	testkit.Must(t, err)
	if f.Verdict() != "6 pods would fit with 3 more nodes like n2, as far as the input shows" {
		t.Error(f.Verdict())
	}
}

const few = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: default}\nspec: {hard: {%s}}\n"

func limited(to string) string { return strings.Replace(few, "%s", to, 1) }

// TestNotCreatedPodsAreCountedOfEachKind: two pods of web run.
func TestNotCreatedPodsAreCountedOfEachKind(t *testing.T) {
	const rejected = "the API server rejects it: exceeded quota: few, requested: "
	claims := "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: with-the-pod, resources: {requests: {storage: 1Gi}}}}], "
	for name, tt := range map[string]struct {
		quota, manifest string
		want            []string
	}{
		"DaemonSet":                  {"pods: 3", manifest("DaemonSet", "agent", asks("1", "")), []string{"1 pod would not be created.", "DaemonSet default/agent: 1 of 2 fit", "  1 pod would not be created: " + rejected + "pods=1"}},
		"DaemonSet, no pod":          {"pods: 2", manifest("DaemonSet", "agent", asks("1", "")), []string{"2 pods would not be created.", "DaemonSet default/agent: 0 of 2 fit"}},
		"StatefulSet":                {"pods: 3", manifest("StatefulSet", "db", "replicas: 3, "+asks("1", "")), []string{"2 pods would not be created.", "StatefulSet default/db: 1 of 3 fit"}},
		"claim of a StatefulSet":     {"requests.storage: 1Gi", manifest("StatefulSet", "db", "replicas: 3, "+claims+asks("1", "")), []string{"2 pods would not be created.", "  2 pods would not be created: " + rejected + "requests.storage=1Gi"}},
		"Job":                        {"pods: 2", manifest("Job", "j", "completions: 3, parallelism: 3, "+noSelector(asks("1", "restartPolicy: Never, "))), []string{"3 pods would not be created.", "Job default/j: 0 of 3 fit"}},
		"Pod":                        {"pods: 2", manifest("Pod", "one", "containers: [{name: c, image: c}]"), []string{"1 pod would not be created.", "Pod default/one: 0 of 1 fit"}},
		"ReplicaSet of a Deployment": {"count/replicasets.apps: 1", manifest("Deployment", "new", asks("1", "")), []string{"1 pod would not be created.", "  1 pod would not be created: " + rejected + "count/replicasets.apps=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fitted(t, false, tt.manifest, limited(tt.quota))
			testkit.Must(t, err)
			has(t, f, tt.want...)
			if f.Fits() || f.Pending > 0 {
				t.Errorf("%d pending, it fits: %v", f.Pending, f.Fits())
			}
		})
	}
}

// TestPodsOfAJobTakeTheirTurn: there is room for some of them, and those end.
func TestPodsOfAJobTakeTheirTurn(t *testing.T) {
	job := func(cpu string) string {
		return manifest("Job", "j", "completions: 9, parallelism: 3, "+noSelector(asks(cpu, "restartPolicy: Never, ")))
	}
	const then = "  2 pods would %s when others of the Job have ended: "
	for name, tt := range map[string]struct {
		quota, manifest string
		fits            bool
		want            []string
	}{
		"room":    {"pods: 9", job("2"), true, []string{"1 pod would start when others of the Job have ended.", "Job default/j: 2 of 3 fit", "  1 pod would start when others of the Job have ended: 0/2 nodes are available"}},
		"quota":   {"pods: 3", job("1"), true, []string{"2 pods would start when", "Job default/j: 1 of 3 fit", fmt.Sprintf(then, "be created") + "the API server rejects it: exceeded quota"}},
		"no room": {"pods: 9", job("3"), false, []string{"3 pods would stay pending.", "Job default/j: 0 of 3 fit", "  3 pods would stay pending: 0/2 nodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fitted(t, false, tt.manifest, limited(tt.quota))
			testkit.Must(t, err)
			has(t, f, tt.want...)
			if f.Fits() != tt.fits {
				t.Errorf("it fits: %v", f.Fits())
			}
		})
	}
}

// TestUntilFullEndsAtAQuota: two pods run, and a quota has room for three more.
func TestUntilFullEndsAtAQuota(t *testing.T) {
	for _, workload := range []string{manifest("Deployment", "new", asks("100m", "")), manifest("Pod", "new", "containers: [{name: c, image: c}]")} {
		f, err := fitted(t, true, workload, limited("pods: 5"))
		testkit.Must(t, err)
		has(t, f, "3 more replicas would fit.", "  The next one would not be created: the API server rejects it: exceeded quota: few, requested: pods=1, used: pods=5, limited: pods=5")
	}
}

// TestOneCauseIsOneLine: 300 pods and their claims are rejected.
func TestOneCauseIsOneLine(t *testing.T) {
	var all []string
	for i := range 300 {
		all = append(all, manifest("Pod", fmt.Sprint("p-", i), "priorityClassName: none, containers: [{name: c, image: c}]"))
	}
	f, err := fitted(t, false, all...)
	testkit.Must(t, err)
	lines := strings.Split(text(t, f, "table"), "\n")
	if len(lines) > 8 {
		t.Errorf("%d lines:\n%s", len(lines), strings.Join(lines[:8], "\n"))
	}
	for _, want := range []string{"300 pods would not be created.", ", and 295 more: 0 of 300 fit", "  300 pods would not be created: the API server rejects it: no PriorityClass with name none was found"} {
		if !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("it lacks %q:\n%s", want, strings.Join(lines[:6], "\n"))
		}
	}
}

// TestDefaultNamespaceKeepsItsLabels: it is in every cluster, and admits what its labels say, by the cluster or by a manifest.
func TestDefaultNamespaceKeepsItsLabels(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: hostnet, namespace: default}\nspec: {hostNetwork: true, containers: [{name: c, image: c}]}\n"
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/enforce: baseline}}\n"
	labelled := v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}}}
	ofCluster, ofManifest := optionsFor(t, pod), optionsFor(t, namespace, pod)
	ofCluster.Cluster.Namespaces = []v1.Namespace{labelled}
	for name, o := range map[string]Options{"of the cluster": ofCluster, "of a manifest": ofManifest} {
		f, err := Fit(t.Context(), o)
		testkit.Must(t, err)
		if f.NotCreated != 1 {
			t.Errorf("labels %s: %d pods are rejected: %+v", name, f.NotCreated, f.Workloads[0])
		}
	}
}
