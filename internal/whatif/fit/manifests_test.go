package fit

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func specOf(spec string) string {
	return "selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" + spec + "containers: [{name: c, image: c}]}}"
}

// noSelector is the spec of a Job, which gets its selector from the API server.
func noSelector(spec string) string {
	return strings.Replace(spec, "selector: {matchLabels: {app: a}}, ", "", 1)
}

func ofJob(spec string) string { return noSelector(specOf(spec)) }

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

// made are the workloads of manifests, and how many pods each has on two nodes.
func made(t *testing.T, text string) string {
	t.Helper()
	f, err := fitted(t, false, text)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, w := range f.Workloads {
		all = append(all, fmt.Sprint(w, " ", w.Tried()))
	}
	return strings.Join(all, ", ")
}

func TestManifestsMakeThePodsThatTheirControllersWould(t *testing.T) {
	const job, cron = "restartPolicy: Never, ", `schedule: "* * * * *", `
	for name, tt := range map[string]struct{ text, want string }{
		"a pod":                          {manifest("Pod", "one", "containers: [{name: c, image: c}]"), "Pod default/one 1"},
		"a deployment":                   {manifest("Deployment", "new", "replicas: 2, "+specOf("")), "Deployment default/new 2"},
		"one that does not say how many": {manifest("Deployment", "new", specOf("")), "Deployment default/new 1"},
		"a replica set":                  {manifest("ReplicaSet", "new", specOf("")), "ReplicaSet default/new 1"},
		"a replication controller": {
			manifest("ReplicationController", "new", strings.Replace(specOf(""), "{matchLabels: {app: a}}", "{app: a}", 1)), "ReplicationController default/new 1",
		},
		"a stateful set":                     {manifest("StatefulSet", "db", "replicas: 2, ordinals: {start: 3}, "+specOf("")), "StatefulSet default/db 2"},
		"a daemon set":                       {manifest("DaemonSet", "agent", specOf("")), "DaemonSet default/agent 2"},
		"a job, as many as run at a time":    {manifest("Job", "j", "parallelism: 3, completions: 2, "+ofJob(job)), "Job default/j 2"},
		"a work queue":                       {manifest("Job", "j", "parallelism: 2, "+ofJob(job)), "Job default/j 2"},
		"a cron job, once":                   {manifest("CronJob", "c", cron+`jobTemplate: {spec: {`+ofJob(job)+`}}`), "CronJob default/c 1"},
		"a list":                             {"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(manifest("Deployment", "new", specOf("")), "\n", "\n  "), "Deployment default/new 1"},
		"documents, of which some are empty": {"---\n# Source: x\n---\n" + manifest("Deployment", "a", specOf("")) + "---\n" + manifest("Deployment", "b", specOf("")), "Deployment default/a 1, Deployment default/b 1"},
		"JSON":                               {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"c","image":"c"}]}}`, "Pod default/one 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := made(t, tt.text)
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
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	m, err := Read([]string{dir}, nil, Namespace{})
	testkit.Must(t, err)
	if len(m.workloads) != 3 || m.workloads[0].Name != "later" || m.workloads[1].Name != "web" || m.workloads[2].Name != "before" {
		t.Errorf("workloads: %v", m.workloads)
	}
	const want = "1 Pod of Helm's post-delete, 1 Pod of Helm's test, 1 policy/v1beta1 PodDisruptionBudget, 1 suspended Job, 1 v1 ConfigMap"
	got := report.Counted(m.skipped)
	if got != want || report.Counted(m.unknown) != "1 example.com/v1 Anything" || len(m.objects.Services) != 1 {
		t.Errorf("skipped: %s, want %s; %+v", got, want, m.objects)
	}
}

func TestFolderIsReadWithoutWhatIsNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "one.yaml"), []byte(manifest("Pod", "one", "containers: [{name: c, image: c}]")), 0o600))
	testkit.Must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.yaml")))
	m, err := Read([]string{dir}, nil, Namespace{})
	testkit.Must(t, err)
	if len(m.workloads) != 1 || m.skipped[filepath.Join(dir, "zero.yaml")+", which is no regular file"] != 1 {
		t.Errorf("%d workloads, skipped %v", len(m.workloads), m.skipped)
	}
}

func TestReadReportsMistakesInALine(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	testkit.Must(t, os.Mkdir(filepath.Join(dir, "none"), 0o700))
	for want, path := range map[string]string{
		"makes pods: there is 2 Secret, 1 Service":                     file("no-pods.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: t}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: s}}"),
		"makes pods: there is no object":                               file("empty.yaml", "# nothing\n"),
		"deployment default/web: there is no field spec.replica":       file("field.yaml", manifest("Deployment", "web", "replica: 3, "+specOf(""))),
		`spec.replicas: expected a whole number, found a string`:       file("three.yaml", manifest("Deployment", "web", "replicas: three, "+specOf(""))),
		"mapping values are not allowed":                               file("syntax.yaml", "kind: Pod\napiVersion: v1: v2\n"),
		"there is 1 ReplicationController":                             file("rc.yaml", manifest("ReplicationController", "rc", "replicas: 3")),
		"it has text, and no objects":                                  file("text.yaml", "just text\n"),
		"metadata: expected an object, found a string":                 file("metadata.json", `{"kind": "Pod", "apiVersion": "v1", "metadata": "x"}`),
		"items[0]: expected an object, found a number":                 file("items.json", `{"kind": "List", "apiVersion": "v1", "items": [1]}`),
		"the file is cut off":                                          file("cut.json", `{"kind": "Pod", `),
		"it is neither text nor a .tar, .gz or .zip":                   file("binary.yaml", "\x7fELF\x02\x01\x00"),
		"Rollout x is there twice":                                     file("twice.yaml", "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: x}, spec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}}\n---\n{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: x}, spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}}\n"),
		"values.yaml: the kind is missing":                             file("values.yaml", "replicas: 3\n"),
		`the path "` + filepath.Join(dir, "gone") + `" does not exist`: filepath.Join(dir, "gone"),
		"recognized file extensions are [.json .yaml .yml]":            filepath.Join(dir, "none"),
	} {
		_, err := Read([]string{path}, nil, Namespace{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// TestAnObjectThatIsThereTwiceIsAppliedTwice: kubectl apply sends the files of a folder one after the other.
func TestAnObjectThatIsThereTwiceIsAppliedTwice(t *testing.T) {
	const notice = "More than once in the manifests, and applied one after the other: "
	web := func(replicas int, app string) string {
		return strings.ReplaceAll(manifest("Deployment", "new", fmt.Sprintf("replicas: %d, ", replicas)+specOf("")), "app: a", "app: "+app)
	}
	for name, tt := range map[string]struct {
		manifests []string
		want      []string
	}{
		"equal ones are one":  {[]string{web(2, "a"), web(2, "a")}, []string{"2 pods would fit.", "Deployment default/new: 2 of 2 fit", "Tried in memory"}},
		"the last one counts": {[]string{web(1, "a"), web(2, "a"), web(3, "a")}, []string{"3 pods would fit.", notice + "Deployment default/new"}},
		"the first one if the next is rejected": {[]string{web(1, "a"), web(2, "b")}, []string{
			"1 pod would fit, and 1 object would be rejected.", "  It stays as it is in the cluster: the API server rejects it: spec.selector: Invalid value", notice + "Deployment default/new",
		}},
		"a rejected first one": {[]string{web(-1, "a"), web(2, "a")}, []string{"2 pods would fit, and 1 object would be rejected.", "Rejected: ", notice + "Deployment default/new"}},
		"a Pod": {[]string{manifest("Pod", "one", "containers: [{name: c, image: c}]"), manifest("Pod", "one", "containers: [{name: d, image: c}]")}, []string{
			"1 pod would fit, and 1 object would be rejected.", notice + "Pod default/one",
		}},
		"a CronJob": {[]string{
			manifest("CronJob", "c", `schedule: "* * * * *", jobTemplate: {spec: {`+ofJob("restartPolicy: Never, ")+`}}`),
			manifest("CronJob", "c", `schedule: "* * * * *", jobTemplate: {spec: {parallelism: 2, completions: 2, `+ofJob("restartPolicy: Never, ")+`}}`),
		}, []string{"2 pods would fit.", notice + "CronJob default/c"}},
		"what pods depend on": {[]string{limited("pods: 9"), limited("pods: 3"), web(2, "a")}, []string{"1 pod would not be created.", notice + "ResourceQuota default/few"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := fitted(t, false, tt.manifests...)
			testkit.Must(t, err)
			has(t, f, tt.want...)
		})
	}
}

// As PowerShell writes them, kubectl lists them, and people send them.
func TestManifestsAreReadInAnyForm(t *testing.T) {
	text := manifest("Deployment", "web", specOf(""))
	raw, err := yaml.YAMLToJSON([]byte(text))
	testkit.Must(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	testkit.Must(t, err)
	var compressed bytes.Buffer
	to := gzip.NewWriter(&compressed)
	_, err = to.Write([]byte(wide))
	testkit.Must(t, errors.Join(err, to.Close()))
	for name, file := range map[string]string{
		"YAML": text, "JSON": string(raw), "UTF-16": wide, "compressed": compressed.String(),
		"JSON documents":   string(raw) + "\n---\n\n--- # the same once more\n" + string(raw),
		"a list":           `{"kind": "List", "apiVersion": "v1", "items": [` + string(raw) + `]}`,
		"a list of a kind": `{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [` + strings.Replace(string(raw), `"kind":"Deployment",`, "", 1) + `]}`,
	} {
		m, err := Read([]string{"-"}, strings.NewReader(file), Namespace{})
		if err != nil || len(m.workloads) != 1 || m.workloads[0].String() != "Deployment default/web" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArchiveOfManifestsIsReadByTheNamesOfItsFiles(t *testing.T) {
	web := manifest("Deployment", "web", specOf(""))
	for name, tt := range map[string]struct {
		file, text string
		err        string
	}{
		"a file of another name":   {"notes.txt", manifest("Deployment", "other", specOf("")), ""},
		"what macOS adds":          {"__MACOSX/._a.yml", "\x00\x05\x16\x07", ""},
		"an object without a kind": {"b.yaml", "metadata: {name: b}", "the manifests: b.yaml: the kind is missing"},
	} {
		var archive bytes.Buffer
		to := zip.NewWriter(&archive)
		for file, text := range map[string]string{"a.yml": web, tt.file: tt.text} {
			part, err := to.Create(file)
			testkit.Must(t, err)
			_, err = part.Write([]byte(text))
			testkit.Must(t, err)
		}
		testkit.Must(t, to.Close())
		m, err := Read([]string{"-"}, &archive, Namespace{})
		switch {
		case tt.err != "":
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || len(m.workloads) != 1:
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLastJobOfANameSaysWhetherItRuns(t *testing.T) {
	job := func(kind, suspended string) string {
		spec := "suspend: " + suspended + ", " + ofJob("restartPolicy: Never, ")
		if kind == "CronJob" {
			spec = `schedule: "* * * * *", jobTemplate: {spec: {` + spec + "}}"
		}
		return manifest(kind, "train", spec)
	}
	for _, kind := range []string{"Job", "CronJob"} {
		for last, want := range map[string]int{"true": 1, "false": 2} {
			first := map[string]string{"true": "false", "false": "true"}[last]
			m, err := Read([]string{"-"}, strings.NewReader(job(kind, first)+"---\n"+job(kind, last)+"---\n"+manifest("Deployment", "web", specOf(""))), Namespace{})
			testkit.Must(t, err)
			if len(m.workloads) != want {
				t.Errorf("%s, of which the last is suspended: %s: %v", kind, last, m.workloads)
			}
		}
	}
}

// TestTemplatesOfUnknownKindsAreTried: each pod template is made as often as what is around it says.
func TestTemplatesOfUnknownKindsAreTried(t *testing.T) {
	const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}"
	for name, tt := range map[string]struct{ kind, spec, want string }{
		"a rollout":            {"argoproj.io/v1alpha1, kind: Rollout", "replicas: 2, " + template, "Rollout default/x 2"},
		"an old version":       {"apps/v1beta1, kind: Deployment", "replicas: 1, " + template, "Deployment default/x 1"},
		"a set of jobs":        {"jobset.x-k8s.io/v1alpha2, kind: JobSet", "replicatedJobs: [{replicas: 2, template: {spec: {parallelism: 1, " + template + "}}}]", "JobSet default/x 2"},
		"a head and a worker":  {"ray.io/v1, kind: RayCluster", "headGroupSpec: {" + template + "}, workerGroupSpecs: [{replicas: 1, " + template + "}]", "RayCluster default/x 1, RayCluster default/x-2 1"},
		"a service of Knative": {"serving.knative.dev/v1, kind: Service", template, "Service default/x 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := made(t, "{apiVersion: "+tt.kind+", metadata: {name: x}, spec: {"+tt.spec+"}}")
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
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
	testkit.Must(t, err)
	has(t, f, "Not tried, and perhaps it makes pods: 1 postgresql.cnpg.io/v1 Cluster. ")
}

// TestNamesOfPodsMayBeTaken: a custom controller's pods, which are named so, too.
func TestNamesOfPodsMayBeTaken(t *testing.T) {
	for _, untilFull := range []bool{false, true} {
		o := optionsFor(t, "{apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 2, "+asks("200m", "")+"}}")
		o.UntilFull = untilFull
		at := slices.IndexFunc(o.Cluster.Pods, func(p v1.Pod) bool { return p.Name == "web-1-a" })
		o.Cluster.Pods[at].Name = "web-1"
		o.Cluster.Pods[at].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "other", UID: "u", Controller: new(bool)}}
		f, err := Fit(t.Context(), o)
		if err != nil || !untilFull && f.Workloads[0].Fit != 2 {
			t.Errorf("until full: %t: %v, %+v", untilFull, err, f)
		}
	}
}

// TestManifestsWithoutANamespace: kubectl writes the namespace that it chooses as applied last, too.
func TestManifestsWithoutANamespace(t *testing.T) {
	const text = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{},"name":"api"NAMESPACE},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"api"}},"template":{"metadata":{"labels":{"app":"api"}},"spec":{"containers":[{"image":"c","name":"c"}]}}}}`
	in := func(namespace string) string { return strings.Replace(text, "NAMESPACE", namespace, 1) }
	for namespace, of := range map[string]Namespace{"default": {}, "shop": {Name: "shop"}} {
		m, err := Read([]string{"-"}, strings.NewReader(in("")), of)
		testkit.Must(t, err)
		o := optionsFor(t, in(""))
		o.Manifests = m
		there := appsv1.Deployment{}
		testkit.Must(t, json.Unmarshal([]byte(in(`,"namespace":"`+namespace+`"`)), &there))
		there.Annotations = map[string]string{v1.LastAppliedConfigAnnotation: in(`,"namespace":"` + namespace + `"`)}
		o.Cluster.Namespaces = append(o.Cluster.Namespaces, v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
		o.Cluster.Deployments = append(o.Cluster.Deployments, there)
		f, err := Rollout(t.Context(), o)
		testkit.Must(t, err)
		w := f.Workloads[0]
		if w.Namespace != namespace || w.Fit != 1 || !f.Fits() || len(w.KeptFields) > 0 {
			t.Errorf("%s: %s: %d fit, kept %q, %v", namespace, w, w.Fit, w.KeptFields, f.Rejected)
		}
	}
	other := in(`,"namespace":"other"`)
	for kind, text := range map[string]string{"Deployment": other, "Rollout": strings.NewReplacer("apps/v1", "argoproj.io/v1", "Deployment", "Rollout").Replace(other)} {
		_, err := Read([]string{"-"}, strings.NewReader(text), Namespace{Name: "shop", Enforced: true})
		if err == nil || !strings.Contains(err.Error(), kind+" api is in namespace other, not in shop: leave --namespace out") {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

func TestNamespaceIsEnforcedForAllKindsThatHaveOne(t *testing.T) {
	for kind, wrong := range map[string]bool{"ConfigMap": true, "Ingress": true, "Rollout": true, "ClusterRole": false, "Node": false, "IngressClass": false} {
		text := "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: c, namespace: other}\n---\n" + manifest("Deployment", "web", specOf(""))
		_, err := Read([]string{"-"}, strings.NewReader(text), Namespace{Name: "shop", Enforced: true})
		if (err != nil) != wrong || wrong && !strings.Contains(err.Error(), kind+" c is in namespace other, not in shop") {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

func TestLinkInAnArchiveOfManifestsIsNamed(t *testing.T) {
	var archive bytes.Buffer
	to := tar.NewWriter(&archive)
	web := manifest("Deployment", "web", specOf(""))
	testkit.Must(t, to.WriteHeader(&tar.Header{Name: ".hidden.yaml", Mode: 0o600, Size: int64(len(web))}))
	_, err := to.Write([]byte(web))
	testkit.Must(t, err)
	testkit.Must(t, to.WriteHeader(&tar.Header{Name: "b.yaml", Typeflag: tar.TypeSymlink, Linkname: "../base/b.yaml"}))
	testkit.Must(t, to.Close())
	m, err := Read([]string{"-"}, &archive, Namespace{})
	testkit.Must(t, err)
	if len(m.workloads) != 1 || m.skipped["b.yaml, which is no regular file"] != 1 {
		t.Errorf("got %v, skipped %v", m.workloads, m.skipped)
	}
}

func TestJobOfOthersIsNoEarlierOneOfAJob(t *testing.T) {
	other := "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\nspec: {tasks: [{replicas: 2, template: {spec: {containers: [{name: c, image: c}]}}}]}\n---\n"
	m, err := Read([]string{"-"}, strings.NewReader(other+manifest("Job", "train", ofJob("restartPolicy: Never, "))), Namespace{})
	testkit.Must(t, err)
	if len(m.workloads) != 2 {
		t.Errorf("got %v", m.workloads)
	}
}
