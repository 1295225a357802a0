package snapshot

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// noticed are the notices of a file, a line each.
func noticed(t *testing.T, file string) (*Snapshot, string) {
	t.Helper()
	s, notices, err := Read(strings.NewReader(file))
	testkit.Must(t, err)
	var lines []string
	for _, notice := range notices {
		lines = append(lines, notice.String())
	}
	return s, strings.Join(lines, "\n")
}

func TestListsOfKubectlAreRead(t *testing.T) {
	const pod = `{"metadata": {"name": "p", "namespace": "team"}, "spec": {"containers": [{"name": "c"}], "priorityClassName": "high", "priority": 7, "runtimeClassName": "sandbox", "overhead": {"cpu": "1"}}}`
	const missing = "namespace team: not in the file: made without labels\npriority class high: not in the file: made as its pods say\nruntime class sandbox: not in the file: made as its pods say"
	for name, file := range map[string]string{
		"a list, in JSON": `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", ` + pod[1:] + `]}`,
		"a list, in YAML": "apiVersion: v1\nitems:\n- " + `{"apiVersion": "v1", "kind": "Pod", ` + pod[1:] + "\nkind: List\nmetadata: {resourceVersion: ''}\n",
		"a list of pods":  `{"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": [` + pod + `]}`,
		"a pod":           `{"apiVersion": "v1", "kind": "Pod", ` + pod[1:],
		"an export":       `{"pods": [` + pod + `]}`,
		"lists in a list": `{"kind": "List", "apiVersion": "v1", "items": [{"kind": "List", "apiVersion": "v1", "items": [{"kind": "PodList", "apiVersion": "v1", "items": [` + pod + `]}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, notices := noticed(t, file)
			if s.Objects() != 1 || s.Pods[0].Name != "p" || notices != missing {
				t.Errorf("got %d objects, %s", s.Objects(), notices)
			}
		})
	}
	s, notices := noticed(t, "kind: Pod\napiVersion: v1\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n---\nkind: Node\napiVersion: v1\nmetadata: {name: a}\n---\n---\nkind: ReplicaSet\napiVersion: apps/v1\nmetadata: {name: r}\n---\n"+
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: m, namespace: ns}\n")
	want := "1 v1 ConfigMap: skipped: scheduling does not depend on these kinds"
	if len(s.Nodes) != 1 || s.Nodes[0].Namespace != "" || s.Pods[0].Namespace != "default" || len(s.ReplicaSets) != 1 || notices != want {
		t.Errorf("got %v, %v, %s", s.Nodes, s.Pods, notices)
	}
}

func TestJSONDocumentsOfAFileAreRead(t *testing.T) {
	const a = `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}}`
	const b = `{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "b"}}, {"metadata": {"name": "c"}}]}`
	for name, file := range map[string]string{"JSON lines": a + "\n" + b + "\n", "one after the other": strings.Repeat(" ", 99) + a + b} {
		s, notices := noticed(t, file)
		if len(s.Nodes) != 3 || notices != "" {
			t.Errorf("%s: %d nodes, %s", name, len(s.Nodes), notices)
		}
	}
}

func TestFilesOfOneClusterAreReadTogether(t *testing.T) {
	files := []File{
		{Name: "nodes.json", Reader: strings.NewReader(`{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}`)},
		{Name: "events.json", Reader: strings.NewReader(`{"kind": "EventList", "apiVersion": "v1", "items": [{"metadata": {"name": "e"}}, {"metadata": {"name": "f"}}]}`)},
	}
	s, notices, err := ReadWithin(t.Context(), 1<<20, files...)
	if err != nil || len(s.Nodes) != 1 || len(notices) != 1 || notices[0].String() != "2 v1 Event: skipped: scheduling does not depend on these kinds" {
		t.Errorf("%v, %v", notices, err)
	}
	_, _, err = ReadWithin(t.Context(), 1<<20, File{Name: "nodes.json", Reader: strings.NewReader(`{"kind": "Node"`)})
	if err == nil || err.Error() != "nodes.json: the file is cut off: unexpected EOF" {
		t.Error(err)
	}
	if _, _, err := ReadWithin(t.Context(), 20, File{Name: "a.yaml", Reader: strings.NewReader("nodes: []\n")}, File{Name: "b.yaml", Reader: strings.NewReader("pods: [] # all\n")}); !errors.As(err, new(TooLarge)) {
		t.Errorf("of 25 bytes, at most 20: %v", err)
	}
}

func TestWhatIsNotKnownOfAnObjectIsSkippedWithANotice(t *testing.T) {
	const spec = `"spec": {"containers": [{"name": "c", "images": "busybox"}], "schedulername": "mine"}`
	pods := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "`+name+`", "namespace": "default"}, `+spec+`}`)
		}
		return all
	}
	two := "pod default/a and 1 more: spec.containers[].images: skipped: the Kubernetes of this simulator has no such field\n" +
		"pod default/a and 1 more: spec.schedulername: skipped: the Kubernetes of this simulator has no such field"
	for name, tt := range map[string]struct{ file, want string }{
		"a list":    {`{"apiVersion": "v1", "kind": "List", "items": [` + strings.Join(pods("a", "b"), ",") + `]}`, two},
		"manifests": {strings.Join(pods("a", "b"), "\n---\n") + "\n---\n", two},
		"an export": {`{"pods": [` + strings.Join(pods("a", "b"), ",") + `], "nodez": []}`, "field nodez: skipped: an export has no such field\n" + two},
		"one pod": {pods("a")[0], "pod default/a: spec.containers[].images: skipped: the Kubernetes of this simulator has no such field\n" +
			"pod default/a: spec.schedulername: skipped: the Kubernetes of this simulator has no such field"},
	} {
		t.Run(name, func(t *testing.T) {
			s, notices := noticed(t, "# a comment, which only YAML has\n"+tt.file)
			if len(s.Pods) == 0 || notices != tt.want {
				t.Errorf("%d pods\ngot  %s\nwant %s", len(s.Pods), notices, tt.want)
			}
		})
	}
}

func TestManifestThatIsSkippedHasANotice(t *testing.T) {
	for file, want := range map[string]string{
		`{"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "team"}}`: "pod disruption budget team/b: skipped: it is of policy/v1beta1, and only policy/v1 is read: kubectl convert makes one of the other",
		`{"nodes": []} {"apiVersion": "serving.example.com/v1", "kind": "Service", "metadata": {"name": "s"}}`:            "1 serving.example.com/v1 Service: skipped: scheduling does not depend on these kinds",
	} {
		_, notices := noticed(t, file)
		if notices != want {
			t.Error(notices)
		}
	}
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var file bytes.Buffer
	to := gzip.NewWriter(&file)
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, to.Close())
	return file.String()
}

func TestFileThatIsCompressedIsRead(t *testing.T) {
	file := compressed(t, "nodes:\n- metadata: {name: a}\n")
	s, _ := noticed(t, file)
	if len(s.Nodes) != 1 {
		t.Errorf("%d nodes", len(s.Nodes))
	}
	_, _, err := Read(strings.NewReader(file[:len(file)-8]))
	if err == nil || !strings.HasPrefix(err.Error(), "the file is cut off: ") {
		t.Errorf("what was cut: %v", err)
	}
}

func TestSnapshotThatIsNoneIsAnErrorOfOneLine(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"nothing", " \n", "it is empty"},
		{"two outputs of kubectl", "apiVersion: v1\nitems: []\nkind: List\napiVersion: v1\nitems: []\nkind: List\n", `key "apiVersion" already set in map`},
		{"a repeated key in JSON", `{"nodes": [{"metadata": {"name": "a"}}], "nodes": []}`, "the key /nodes is repeated"},
		{"lists in lists without end", strings.Repeat(`{"kind": "List", "apiVersion": "v1", "items": [`, 99) + strings.Repeat("]}", 99), "lists are nested more than 8 deep"},
		{"no JSON", `{"nodes": [}`, "not JSON: "},
		{"something else", `{"colour": "red"}`, `it has none of the fields of an export, such as "nodes" and "pods", and no kind either`},
		{"no YAML", "a: b: c", "not YAML: "},
		{"a list of kubectl that was cut", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n", "the kind is missing, with which a list of kubectl ends: the file is cut off"},
		{"an export that was cut", "nodes:\n- metadata: {name: a}\npods:\n- metadata: {name: p}\n  spec:\n", "pods[0]: pod p has no spec.containers: perhaps the file is cut off"},
		{"in the middle of metadata", "nodes:\n- metadata:\n", "nodes[0]: node without metadata.name: perhaps the file is cut off"},
		{"a snapshot that was cut", "source: {objects: 3}\nnodes:\n- metadata: {name: a}\n", "the file is cut off: it says that it has 3 objects, and has 1"},
		{"a name that YAML takes for a no", "kind: Node\napiVersion: v1\nmetadata: {name: n}\n", "metadata.name: expected a string, found a boolean: put it in quotes"},
		{"a wrong type in a list", `{"kind": "List", "items": [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "spec": {"taints": {}}}]}`, "items[0]: node a: spec.taints: expected a list, found an object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, err := Read(strings.NewReader(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") || s != nil {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestSchedulerConfigurationStaysAsItIs(t *testing.T) {
	const config = `{ "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",  "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Nope"}]}}}] }`
	s, notices := noticed(t, `{"schedulerConfig": `+config+`}`)
	if string(s.SchedulerConfig) != config || notices != "" {
		t.Errorf("got %s, %s", s.SchedulerConfig, notices)
	}
}

func TestWhatIsWrittenIsReadAsItWas(t *testing.T) {
	text, err := os.ReadFile("testdata/kube-scheduler-simulator.json")
	testkit.Must(t, err)
	was, _, err := Read(bytes.NewReader(text))
	testkit.Must(t, err)
	was.Source = &Source{Cluster: "prod: east", Objects: was.Objects(), Taken: metav1.Unix(0, 0), Unlisted: []string{"Job"}}
	var file bytes.Buffer
	testkit.Must(t, was.WriteYAML(&file))
	is, _, err := Read(&file)
	testkit.Must(t, err)
	wasText, err := json.Marshal(was)
	testkit.Must(t, err)
	isText, err := json.Marshal(is)
	testkit.Must(t, err)
	var first, second any
	testkit.Must(t, json.Unmarshal(wasText, &first))
	testkit.Must(t, json.Unmarshal(isText, &second))
	if !reflect.DeepEqual(first, second) {
		t.Errorf("written %s\nread    %s", wasText, isText)
	}
}

func TestTimeOfASnapshotDoesNotDependOnTheDate(t *testing.T) {
	const node = "nodes:\n- metadata: {name: a, creationTimestamp: \"2026-11-01T00:00:00Z\"}\n"
	for file, want := range map[string]string{
		"nodes:\n- metadata: {name: a}\n": "2000-01-01T00:00:00Z",
		node:                              "2026-11-01T00:00:00Z",
		node + "  status: {conditions: [{type: Ready, lastHeartbeatTime: \"2026-11-02T00:00:00Z\"}]}\n": "2026-11-02T00:00:00Z",
		node + "jobs:\n- metadata: {name: a}\n  status: {startTime: \"2026-11-03T00:00:00Z\"}\n":        "2026-11-03T00:00:00Z",
		node + "source: {taken: \"2026-10-31T00:00:00Z\"}\n":                                            "2026-10-31T00:00:00Z",
	} {
		s, _, err := Read(strings.NewReader(file))
		testkit.Must(t, err)
		got := s.Time().Format(time.RFC3339)
		if got != want {
			t.Errorf("%s\n%s, want %s", file, got, want)
		}
	}
}

// TestImportSkipsJobsOfACopy: those of an export were made in a simulator.
func TestImportSkipsJobsOfACopy(t *testing.T) {
	const file = "jobs: [{metadata: {name: work}}]\ncronJobs: [{metadata: {name: nightly}}]\n"
	for source, want := range map[string]int{"": 0, "source: {taken: \"2026-11-28T00:00:00Z\", digests: {key: a2V5}}\n": 2} {
		s, notices, err := Read(strings.NewReader(file + source))
		testkit.Must(t, err)
		skipped := s.dropJobs()
		if len(skipped) != want || len(s.Jobs)+len(s.CronJobs) != 2-want || len(notices) > 0 {
			t.Errorf("%q: skipped %v, left %d; %v", source, skipped, len(s.Jobs)+len(s.CronJobs), notices)
		}
	}
}

func TestSnapshotOfAnOlderVersionIsReadWithANotice(t *testing.T) {
	_, notices, err := Read(strings.NewReader("nodes: [{metadata: {name: a}}]\nsource: {taken: \"2026-11-28T00:00:00Z\"}\n"))
	testkit.Must(t, err)
	if len(notices) != 1 || !strings.Contains(notices[0].Reason, "an older version wrote it") {
		t.Errorf("the notices are %v", notices)
	}
}

func TestPodsWithOneUIDGetTwo(t *testing.T) {
	const pods = "pods:\n" +
		"- {metadata: {name: a, namespace: shop, uid: u}, spec: &runs {containers: [{name: c, image: c}]}}\n" +
		"- {metadata: {name: b, namespace: shop, uid: u}, spec: *runs}\n" +
		"- {metadata: {name: c, namespace: shop}, spec: *runs}\n"
	s, notices, err := Read(strings.NewReader(pods))
	testkit.Must(t, err)
	testkit.Equal(t, []types.UID{s.Pods[0].UID, s.Pods[1].UID, s.Pods[2].UID}, []types.UID{"u", "u of shop/b", ""}, "UIDs")
	testkit.Has(t, fmt.Sprint(notices), "pod shop/b: it has the UID of pod shop/a, and gets one of its own")
}

func TestServerThatAnswersWithAnotherKindIsAnError(t *testing.T) {
	for answer, want := range map[string]string{
		`{"kind": "Status", "apiVersion": "v1", "status": "Success"}`: "the server answers a request for poddisruptionbudgets with a Status",
		`{"kind": "PodList", "apiVersion": "v1", "items": []}`:        "the server answers a request for poddisruptionbudgets with a PodList",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}))
		defer server.Close()
		client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
		testkit.Must(t, err)
		of := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Kind == "PodDisruptionBudget" })
		testkit.ErrorHas(t, Kinds[of].List(t.Context(), client, &Snapshot{}, metav1.ListOptions{}, func(int) {}), want)
	}
}
