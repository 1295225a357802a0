package fit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/report"
)

func specOf(spec string) string {
	return "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" + spec + "containers: [{name: c, image: c}]}}"
}

func manifest(kind, name, spec string) string {
	group := "apps/v1"
	switch kind {
	case "Pod", "ReplicationController":
		group = "v1"
	case "Job", "CronJob":
		group = "batch/v1"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec: {%s}\n", group, kind, name, spec)
}

func nodesCalled(names ...string) (nodes []*v1.Node) {
	for _, name := range names {
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return nodes
}

// made are the names of all pods that manifests make, with their claims.
func made(m *Manifests) string {
	var all []string
	for _, w := range m.workloads {
		if w.Kind == "DaemonSet" {
			w.nodes, w.replicas = nodesCalled("n1", "n2"), 2
		}
		for at := range w.replicas {
			pod, claims := w.pod(at)
			name := w.String() + " makes " + pod.Name
			for _, claim := range claims {
				name += " with " + claim.Name
			}
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

func TestManifestsMakeThePodsThatTheirControllersWould(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"a pod":                          {manifest("Pod", "one", "containers: [{name: c, image: c}]"), "Pod default/one makes one"},
		"a deployment":                   {manifest("Deployment", "web", "replicas: 2, "+specOf("")), "Deployment default/web makes web-0, Deployment default/web makes web-1"},
		"one that does not say how many": {manifest("Deployment", "web", specOf("")), "Deployment default/web makes web-0"},
		"a replica set":                  {manifest("ReplicaSet", "web", specOf("")), "ReplicaSet default/web makes web-0"},
		"a replication controller": {
			manifest("ReplicationController", "web", strings.Replace(specOf(""), "{matchLabels: {app: a}}", "{app: a}", 1)),
			"ReplicationController default/web makes web-0",
		},
		"a stateful set": {
			manifest("StatefulSet", "db", "replicas: 2, ordinals: {start: 3}, volumeClaimTemplates: [{metadata: {name: data}, spec: {}}], "+specOf("")),
			"StatefulSet default/db makes db-3 with data-db-3, StatefulSet default/db makes db-4 with data-db-4",
		},
		"a daemon set":                       {manifest("DaemonSet", "agent", specOf("")), "DaemonSet default/agent makes agent-n1, DaemonSet default/agent makes agent-n2"},
		"a job, as many as run at a time":    {manifest("Job", "j", "parallelism: 3, completions: 2, "+specOf("")), "Job default/j makes j-0, Job default/j makes j-1"},
		"a work queue":                       {manifest("Job", "j", "parallelism: 2, "+specOf("")), "Job default/j makes j-0, Job default/j makes j-1"},
		"a cron job, once":                   {manifest("CronJob", "c", `schedule: "* * * * *", jobTemplate: {spec: {`+specOf("")+`}}`), "CronJob default/c makes c-0"},
		"a list":                             {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(manifest("Deployment", "web", specOf("")), "\n", "\n  "), "Deployment default/web makes web-0"},
		"documents, of which some are empty": {"---\n# Source: x\n---\n" + manifest("Deployment", "a", specOf("")) + "---\n" + manifest("Deployment", "b", specOf("")), "Deployment default/a makes a-0, Deployment default/b makes b-0"},
		"JSON":                               {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one","namespace":"team"},"spec":{"containers":[{"name":"c"}]}}`, "Pod team/one makes one"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Read([]string{"-"}, strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			got := made(m)
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestManifestsOfAChartAreUsedOrSkippedByKind(t *testing.T) {
	hook := func(kind, name, hook string) string {
		return strings.Replace(manifest(kind, name, "containers: [{name: c, image: c}]"), "metadata: {", `metadata: {annotations: {helm.sh/hook: "`+hook+`"}, `, 1)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": manifest("Deployment", "web", specOf("")),
		"b.yml": `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: a}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {}}
---
{apiVersion: example.com/v1, kind: Anything, metadata: {name: web}, spec: {of: its own}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: later}, spec: {suspend: true, template: {spec: {containers: [{name: c, image: c}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: later}, spec: {paused: true, template: {spec: {containers: [{name: c, image: c}]}}}}
---
{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: web}}
---
` + hook("Pod", "tests", "test") + "---\n" + hook("Pod", "before", "pre-install, pre-upgrade") + "---\n" + hook("Pod", "after", "post-delete"),
		"README.md": "no manifest",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Read([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := made(m), "Deployment default/web makes web-0, Pod default/before makes before"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const want = "1 Pod of Helm's post-delete, 1 Pod of Helm's test, 1 paused Deployment, 1 policy/v1beta1 PodDisruptionBudget, 1 suspended Job, 1 v1 ConfigMap"
	got := report.Counted(m.skipped)
	if got != want || report.Counted(m.unknown) != "1 example.com/v1 Anything" || len(m.objects.Services) != 1 || len(m.objects.ReplicaSets) != 1 {
		t.Errorf("skipped: %s, want %s; %+v", got, want, m.objects)
	}
}

// TestTemplatesOfUnknownKindsAreTried: each pod template is made as often as what is around it says.
func TestTemplatesOfUnknownKindsAreTried(t *testing.T) {
	const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}"
	for name, tt := range map[string]struct{ kind, spec, want string }{
		"a rollout":            {"argoproj.io/v1alpha1, kind: Rollout", "replicas: 2, " + template, "Rollout default/x makes x-0, Rollout default/x makes x-1"},
		"an old version":       {"apps/v1beta1, kind: Deployment", "replicas: 1, " + template, "Deployment default/x makes x-0"},
		"a set of jobs":        {"jobset.x-k8s.io/v1alpha2, kind: JobSet", "replicatedJobs: [{replicas: 2, template: {spec: {parallelism: 1, " + template + "}}}]", "JobSet default/x makes x-0, JobSet default/x makes x-1"},
		"a head and a worker":  {"ray.io/v1, kind: RayCluster", "headGroupSpec: {" + template + "}, workerGroupSpecs: [{replicas: 1, " + template + "}]", "RayCluster default/x makes x-0, RayCluster default/x-2 makes x-2-0"},
		"a service of Knative": {"serving.knative.dev/v1, kind: Service", template, "Service default/x makes x-0"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Read([]string{"-"}, strings.NewReader("{apiVersion: "+tt.kind+", metadata: {name: x}, spec: {"+tt.spec+"}}"))
			if err != nil {
				t.Fatal(err)
			}
			got := made(m)
			if got != tt.want || !m.workloads[0].Unknown {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			pod, _ := m.workloads[0].pod(0)
			if len(pod.OwnerReferences) > 0 {
				t.Errorf("it has the owners %v", pod.OwnerReferences)
			}
		})
	}
	o := optionsFor(t, manifest("Pod", "one", "containers: [{name: c, image: c}]"), "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: pg}, spec: {instances: 3}}\n")
	_, err := Fit(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "whether 1 postgresql.cnpg.io/v1 Cluster makes pods is not known") {
		t.Error(err)
	}
	o.IgnoreUnknown = true
	f, err := Fit(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	has(t, f, "Not tried, and perhaps it makes pods: 1 postgresql.cnpg.io/v1 Cluster. ")
}

func TestReadReportsMistakesInALine(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string]string{
		"makes pods: there is 2 Secret, 1 Service":                     file("no-pods.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: t}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: s}}"),
		"makes pods: there is no object":                               file("empty.yaml", "# nothing\n"),
		"deployment default/web: there is no field spec.replica":       file("field.yaml", manifest("Deployment", "web", "replica: 3, "+specOf(""))),
		`spec.replicas: cannot unmarshal JSON string into Go int32`:    file("three.yaml", manifest("Deployment", "web", "replicas: three, "+specOf(""))),
		"mapping values are not allowed":                               file("syntax.yaml", "kind: Pod\napiVersion: v1: v2\n"),
		"there is 1 ReplicationController":                             file("rc.yaml", manifest("ReplicationController", "rc", "replicas: 3")),
		"Pod one is there twice":                                       file("twice.yaml", strings.Repeat(manifest("Pod", "one", "containers: [{name: c, image: c}]")+"---\n", 2)),
		"Object 'Kind' is missing":                                     file("values.yaml", "replicas: 3\n"),
		`the path "` + filepath.Join(dir, "gone") + `" does not exist`: filepath.Join(dir, "gone"),
		"recognized file extensions are [.json .yaml .yml]":            filepath.Join(dir, "none"),
	} {
		_, err := Read([]string{path}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}
