package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const (
	nodeA     = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}`
	podWeb    = `{"metadata": {"name": "web", "namespace": "team"}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}}`
	team      = `{"kind": "NamespaceList", "apiVersion": "v1", "items": [{"metadata": {"name": "team"}}]}`
	asKubectl = "apiVersion: v1\nitems:\n- " + nodeA + "\n- " + `{"apiVersion": "v1", "kind": "Pod", ` + podWeb2 + "\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
	podWeb2   = `"metadata": {"name": "web", "namespace": "team"}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}}`
)

// dumps are one cluster as people have it. Each has node a, pod team/web and namespace team, and says which files have no objects.
var dumps = map[string]struct {
	files   map[string]string
	skipped []string
}{
	"kubectl get, one file of several kinds": {map[string]string{"cluster.yaml": asKubectl, "namespaces.json": team}, nil},
	"kubectl cluster-info dump": {map[string]string{
		"nodes.json":         `{"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}]}`,
		"team/pods.json":     `{"kind": "PodList", "apiVersion": "v1", "items": [` + podWeb + `]}`,
		"team/events.json":   `{"kind": "EventList", "apiVersion": "v1", "items": []}`,
		"team/web/logs.txt":  "started\n",
		"namespaces/ns.json": team,
	}, []string{"team/web/logs.txt"}},
	"must-gather": {map[string]string{
		"version": "4.10\n",
		"quay/cluster-scoped-resources/core/nodes/a.yaml":    "---\n" + nodeA + "\n",
		"quay/namespaces/team/team.yaml":                     "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
		"quay/namespaces/team/core/pods.yaml":                "---\napiVersion: v1\nitems:\n- " + podWeb + "\nkind: PodList\n",
		"quay/namespaces/team/pods/web/web.yaml":             "---\napiVersion: v1\nkind: Pod\n" + "metadata: {name: web, namespace: team}\nspec: {containers: [{name: c}]}\nstatus: {phase: Running}\n",
		"quay/namespaces/team/pods/web/c/c/logs/current.log": "2026-01-01 kind: Pod\n",
		"quay/etcd_info/alarm_list.json":                     `[{"header": {"member_id": 1}}]`,

		"quay/ingress_controllers/default/router/haproxy.config":  "global\n",
		"quay/cluster-scoped-resources/core/chart/templates.yaml": "{{- if .Values.x }}\na: b\n{{- end }}\n",
	}, []string{
		"quay/cluster-scoped-resources/core/chart/templates.yaml", "quay/etcd_info/alarm_list.json", "quay/ingress_controllers/default/router/haproxy.config",
		"quay/namespaces/team/pods/web/c/c/logs/current.log", "version",
	}},
	"a support bundle": {map[string]string{
		"support-bundle/version.yaml":                               "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec:\n  versionNumber: v0.1\n",
		"support-bundle/analysis.json":                              `[{"name": "required.kubernetes.version", "severity": "debug"}]`,
		"support-bundle/cluster-info/cluster_version.json":          `{"info": {"major": "1"}, "string": "v1.24"}`,
		"support-bundle/cluster-resources/nodes.json":               `{"metadata": {}, "items": [{"metadata": {"name": "a"}}]}`,
		"support-bundle/cluster-resources/pods/team.json":           `[` + podWeb + `]`,
		"support-bundle/cluster-resources/pods/logs/team/web/c.log": "started\n",
		"support-bundle/cluster-resources/namespaces.json":          team,
		"support-bundle/cluster-resources/groups.json":              `[{"name": "apps", "versions": []}]`,
		"support-bundle/cluster-resources/auth-cani-list/team.json": `[{"verbs": ["*"]}]`,
		"support-bundle/cluster-resources/pvcs/team.json":           "null",
		"support-bundle/kubelet/stats.json":                         `{"node": {}, "pods": [{"podRef": {"name": "web"}}]}`,
	}, []string{
		"support-bundle/analysis.json", "support-bundle/cluster-info/cluster_version.json", "support-bundle/cluster-resources/auth-cani-list/team.json",
		"support-bundle/cluster-resources/groups.json", "support-bundle/cluster-resources/pods/logs/team/web/c.log", "support-bundle/kubelet/stats.json",
	}},
	"a Velero backup": {map[string]string{
		"metadata/version":                                               "1.1.0\n",
		"resources/nodes/cluster/a.json":                                 nodeA,
		"resources/nodes/v1-preferredversion/cluster/a.json":             nodeA,
		"resources/namespaces/cluster/team.json":                         `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}`,
		"resources/pods/namespaces/team/web.json":                        `{"apiVersion": "v1", "kind": "Pod", ` + podWeb2,
		"resources/pods/v1-preferredversion/namespaces/team/web.json":    `{"apiVersion": "v1", "kind": "Pod", ` + podWeb2,
		"resources/configmaps/namespaces/team/kube-root-ca.crt.json":     `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "namespace": "team"}}`,
		"resources/widgets.example.com/namespaces/team/preferences.json": `{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "team"}}`,
	}, []string{"metadata/version"}},
}

func tarOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		testkit.Must(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}))
		_, err := io.WriteString(archive, files[name])
		testkit.Must(t, err)
	}
	testkit.Must(t, archive.Close())
	return out.String()
}

func zipOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		entry, err := archive.Create(name)
		testkit.Must(t, err)
		_, err = io.WriteString(entry, files[name])
		testkit.Must(t, err)
	}
	testkit.Must(t, archive.Close())
	return out.String()
}

func TestDumpsAreReadAsFoldersAndAsArchives(t *testing.T) {
	for name, dump := range dumps {
		folder := fstest.MapFS{}
		for file, text := range dump.files {
			folder[file] = &fstest.MapFile{Data: []byte(text)}
		}
		for form, file := range map[string]File{
			"folder":          {Folder: folder},
			"tar":             {Reader: strings.NewReader(tarOf(t, dump.files))},
			"tar.gz":          {Reader: strings.NewReader(compressed(t, tarOf(t, dump.files)))},
			"zip":             {Reader: strings.NewReader(zipOf(t, dump.files))},
			"tar.gz in a zip": {Reader: strings.NewReader(zipOf(t, map[string]string{"a.tar.gz": compressed(t, tarOf(t, dump.files))}))},
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				s, notices, err := ReadWithin(t.Context(), DefaultMaxSize, file)
				testkit.Must(t, err)
				if len(s.Nodes) != 1 || len(s.Pods) != 1 || s.Pods[0].Namespace != "team" || len(s.Namespaces) != 1 || s.Objects() != 3 {
					t.Errorf("read %d nodes, %d pods, %d namespaces, %d objects: %v", len(s.Nodes), len(s.Pods), len(s.Namespaces), s.Objects(), notices)
				}
				wanted := "[]"
				if len(dump.skipped) > 0 {
					wanted = fmt.Sprintf("[%d file", len(dump.skipped))
				}
				if !strings.HasPrefix(fmt.Sprint(s.Source.Lacks), wanted) {
					t.Errorf("skipped %q", s.Source.Lacks)
				}
				for _, name := range dump.skipped[:min(5, len(dump.skipped))] {
					if !strings.Contains(fmt.Sprint(s.Source.Lacks), name[strings.LastIndex("/"+name, "/"):]) && len(dump.skipped) <= 5 {
						t.Errorf("skipped %q, not %s", s.Source.Lacks, name)
					}
				}
				for _, notice := range notices {
					if strings.Contains(notice.Reason, "more than once") {
						t.Error(notice)
					}
				}
			})
		}
	}
}

// utf16Of is as PowerShell's > writes a text.
func utf16Of(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestEncodingsOfWindowsAreRead(t *testing.T) {
	for name, file := range map[string]string{
		"UTF-16, YAML": utf16Of(strings.ReplaceAll(asKubectl, "\n", "\r\n"), binary.LittleEndian), "UTF-16, JSON": utf16Of(nodeA, binary.LittleEndian),
		"UTF-16, big endian": utf16Of(nodeA, binary.BigEndian), "UTF-8": "\ufeff" + asKubectl, "UTF-8, JSON": "\ufeff" + nodeA, "compressed": compressed(t, utf16Of(nodeA, binary.LittleEndian)),
	} {
		s, _, err := Read(strings.NewReader(file))
		if err != nil || len(s.Nodes) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestItemsWithoutAKindHaveTheKindOfTheirFields(t *testing.T) {
	const items = `[` + podWeb + `, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}, {"metadata": {"name": "b"}, "status": {"nodeInfo": {"kubeletVersion": "v1.36.4"}}}]`
	for _, file := range []string{items, `{"items": ` + items + `}`, `{"metadata": {"resourceVersion": "7"}, "items": ` + items + `}`} {
		s, _ := noticed(t, file)
		if len(s.Pods) != 1 || len(s.Nodes) != 2 {
			t.Errorf("%s: %d pods, %d nodes", file, len(s.Pods), len(s.Nodes))
		}
	}
}

func TestOfAnObjectThatIsThereTwiceTheNewerIsRead(t *testing.T) {
	node := func(meta, label string) string {
		return `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", ` + meta + `"labels": {"is": "` + label + `"}}}`
	}
	const notEqual = "node a: it is there more than once, and not equal: the newer one is read"
	for name, tt := range map[string]struct{ first, second, want, notice string }{
		"equal":                     {node("", "x"), node("", "x"), "x", ""},
		"the first is newer":        {node(`"resourceVersion": "10", `, "x"), node(`"resourceVersion": "9", `, "y"), "x", notEqual},
		"the second is newer":       {node(`"resourceVersion": "9", `, "x"), node(`"resourceVersion": "10", `, "y"), "y", notEqual},
		"the first was created new": {node(`"creationTimestamp": "2026-01-02T00:00:00Z", "resourceVersion": "9", `, "x"), node(`"creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": "10", `, "y"), "x", notEqual},
		"one without managedFields": {node("", "x"), node(`"managedFields": [{"manager": "kubectl", "operation": "Update"}], `, "x"), "x", ""},
		"neither says":              {node("", "x"), node("", "y"), "y", "node a: it is there more than once, and not equal, and none is newer: the last one is read"},
	} {
		s, notices := noticed(t, tt.first+"\n"+tt.second)
		if len(s.Nodes) != 1 || s.Nodes[0].Labels["is"] != tt.want || notices != tt.notice {
			t.Errorf("%s: %d nodes, %v, %q", name, len(s.Nodes), s.Nodes[0].Labels, notices)
		}
	}
	s, notices := noticed(t, `{"pods": [`+podWeb+`, `+podWeb+`, {"metadata": {"generateName": "g-"}, "spec": {"containers": [{"name": "c"}]}}, {"metadata": {"generateName": "g-"}, "spec": {"containers": [{"name": "c"}]}}]}`)
	if len(s.Pods) != 3 {
		t.Errorf("an export: %d pods, %s", len(s.Pods), notices)
	}
}

func TestObjectsWithTheSameJSONWithinAreEqual(t *testing.T) {
	revision := func(data string) string {
		return `{"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r", "namespace": "team"}, "revision": 1, "data": ` + data + `}`
	}
	const notEqual = "controller revision team/r: it is there more than once, and not equal, and none is newer: the last one is read"
	for other, want := range map[string]string{`{"a": 1, "b": "<"}`: "", `{"b":"\u003c","a":1}`: "", `{"a": 2, "b": "<"}`: notEqual} {
		_, notices := noticed(t, team+revision(`{"a": 1, "b": "<"}`)+revision(other))
		if notices != want {
			t.Errorf("%s: got %q, want %q", other, notices, want)
		}
	}
}

// Of what kubectl cluster-info dump prints.
func TestLogsBetweenObjectsAreSkipped(t *testing.T) {
	const logs = "==== START logs for container c of pod team/web ====\nkind: Pod\n{[\n%sx ==== END logs for container c of pod team/web ====\n"
	log := fmt.Sprintf(logs, strings.Repeat("long ", 5000))
	for name, file := range map[string]string{"JSON": nodeA + "\n" + log + log + team + "\n" + log, "YAML": asKubectl + log + "---\nkind: Node\napiVersion: v1\nmetadata:\n  name: b\n  labels: {a: '==== START logs for container c'}\n" + log} {
		s, _ := noticed(t, file)
		if s.Objects() != 2 && s.Objects() != 3 {
			t.Errorf("%s: %d objects", name, s.Objects())
		}
	}
}

// A mistake in a file with objects is an error that says where it is; what is not of a cluster is one only where it is alone.
func TestMistakesNameFileObjectAndField(t *testing.T) {
	const bad = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad", "namespace": "team"}, "spec": {"colour": 1, "containers": {"name": "c"}}}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a bad object":              {map[string]string{"nodes.json": nodeA, "x/pods.yaml": "items:\n- " + bad + "\nkind: List\napiVersion: v1\n"}, "x/pods.yaml: items[0]: pod team/bad: spec.containers: expected a list, found an object"},
		"a bad object after others": {map[string]string{"all.json": nodeA + bad}, "all.json: pod team/bad: spec.containers: expected a list, found an object"},
		"a time":                    {map[string]string{"n.json": `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "creationTimestamp": "today"}}`}, `n.json: node a: metadata.creationTimestamp: expected a time such as 2026-01-02T15:04:05Z, found a string "today"`},
		"a quantity":                {map[string]string{"n.json": `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"cpu": "lots"}}}`}, `n.json: node a: status.capacity.cpu: expected a quantity such as 500m or 1Gi, found a string`},
		"metadata that is text":     {map[string]string{"n.json": `{"apiVersion": "v1", "kind": "Node", "metadata": "a"}`}, "n.json: node: metadata: expected an object, found a string"},
		"a list that is cut off":    {map[string]string{"n.json": nodeA, "p.json": `{"kind": "PodList", "apiVersion": "v1", "items": [` + podWeb}, "p.json: the file is cut off: unexpected EOF"},
		"YAML that is cut off":      {map[string]string{"p.yaml": "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: web}\n"}, "p.yaml: the kind is missing"},
		"YAML that is none":         {map[string]string{"p.yaml": "# a node\n" + nodeA + "\n---\nkind: Pod\nx: [\n"}, "p.yaml: not YAML: document 2: line "},
		"no object of a cluster":    {map[string]string{"a.log": "x", "b.json": "[1]", "c.yaml": "a: b\n", "d.yaml": ": :"}, "none of its files has objects of a cluster: a.log, b.json, c.yaml, d.yaml"},
		"objects of other kinds":    {map[string]string{"a.json": `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}`}, "it has no object that scheduling depends on, such as a node or a pod, but only 1 v1 Secret"},
		"a page of a list": {
			map[string]string{"p.json": `{"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": "x", "remainingItemCount": 60}, "items": [` + podWeb + "]}"},
			"p.json: it is the first page of a list with 60 more objects: ask for all of it, without a limit",
		},
		"an archive without its end": {map[string]string{"a.tar": tarOf(t, map[string]string{"n.json": nodeA})[:1024]}, "a.tar: the archive is cut off: it lacks its end"},
		"an archive that is cut off": {map[string]string{"a.tar.gz": compressed(t, tarOf(t, map[string]string{"n.json": nodeA}))[:60]}, "a.tar.gz: "},
	} {
		folder := fstest.MapFS{}
		for file, text := range tt.files {
			folder[file] = &fstest.MapFile{Data: []byte(text)}
		}
		_, _, err := ReadWithin(t.Context(), DefaultMaxSize, File{Folder: folder})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "unmarshal") || strings.Contains(err.Error(), " Go ") {
			t.Errorf("%s: got %v\nwant %s", name, err, tt.want)
		}
	}
	for file, want := range map[string]string{
		"[1, 2]": "[0]: expected an object, found a number", `"text"`: "it has text, and no objects", "NAME   READY\nweb-1  1/1\n": "it has text, and no objects",
		`[{"a": 1}]`: "[0]: it has no kind", "\x7fELF\x02\x01\x00\x00": "it is neither text nor a .tar, .gz or .zip", "\xfd7zXZ\x00\x00": "it is compressed by xz, which", "\x28\xb5\x2f\xfd": "it is compressed by zstd, which",
		tarOf(t, map[string]string{"a.log": ""}): "none of its files has objects of a cluster: a.log",
	} {
		_, _, err := Read(strings.NewReader(file))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %s", file, err, want)
		}
	}
}

func TestFoldersAndArchivesAreBounded(t *testing.T) {
	large := map[string]string{"nodes.json": nodeA, "large.log": strings.Repeat("\x00", 4<<20)}
	nested := nodeA
	for range 2 * maxNested {
		nested = zipOf(t, map[string]string{"a.zip": nested})
	}
	for name, file := range map[string]string{
		"a log in a tar.gz":    compressed(t, tarOf(t, large)),
		"JSON in a zip":        zipOf(t, map[string]string{"a.json": strings.Repeat(" ", 4<<20)}),
		"gzip in gzip":         compressed(t, compressed(t, strings.Repeat(" ", 4<<20))),
		"archives in archives": nested,
	} {
		_, _, err := ReadWithin(t.Context(), 2<<20, File{Reader: strings.NewReader(file)})
		if !errors.As(err, new(TooLarge)) && (name != "archives in archives" || err == nil || !strings.Contains(err.Error(), "nested more than 8 deep")) {
			t.Errorf("%s: %v", name, err)
		}
	}

	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.json")
	testkit.Must(t, os.WriteFile(outside, []byte(nodeA), 0o600))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "nodes.json"), []byte(`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}`), 0o600))
	testkit.Must(t, os.Symlink(outside, filepath.Join(dir, "link.json")))
	testkit.Must(t, os.Symlink("/", filepath.Join(dir, "root")))
	testkit.Must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600))
	for i := range 10_000 {
		name := fmt.Sprintf("%05d.log", i)
		testkit.Must(t, os.Symlink("nothing", filepath.Join(dir, name)))
	}
	file, err := Open(dir, nil)
	testkit.Must(t, err)
	s, _, err := ReadWithin(t.Context(), DefaultMaxSize, file)
	testkit.Must(t, err)
	if len(s.Nodes) != 1 || s.Nodes[0].Name != "b" || !strings.HasPrefix(fmt.Sprint(s.Source.Lacks), "[10003 files not opened, since links or not text: 00000.log") {
		t.Errorf("%d nodes, %v", len(s.Nodes), s.Source.Lacks)
	}
}

// People save what kubectl prints under any name.
func TestFilesOfAFolderAreReadByWhatTheyBeginWith(t *testing.T) {
	log := strings.Repeat("I0101 reconciled\n", 10_000)
	folder := fstest.MapFS{}
	for name, text := range map[string]string{
		"nodes.yaml": nodeA, "pods.txt": asKubectl, "ns": team, "b.out.gz": compressed(t, strings.Replace(nodeA, `"a"`, `"b"`, 1)),
		"c.txt":                              utf16Of(strings.Replace(nodeA, `"a"`, `"c"`, 1), binary.LittleEndian),
		"a/very/long/path/with/team/web.log": "today\nkind: Pod\nof: {[\n" + log, "kubelet.log": log + nodeA,
		"zap.log": `{"level": "info", "object": {"kind": "Pod"}}` + "\n{", "core": "\x7fELF\x02\x01\x00\x00", "old.tar.xz": "\xfd7zXZ\x00\x00",
	} {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, _, err := ReadWithin(t.Context(), 1<<20, File{Folder: folder})
	testkit.Must(t, err)
	const want = "[3 files without objects of a cluster: team/web.log, kubelet.log, zap.log; 2 files not opened, since links or not text: core, old.tar.xz]"
	if len(s.Nodes) != 3 || len(s.Pods) != 1 || len(s.Namespaces) != 1 || fmt.Sprint("[", strings.Join(s.Source.Lacks, "; "), "]") != want {
		t.Errorf("%d nodes, %d pods, %d namespaces, %v", len(s.Nodes), len(s.Pods), len(s.Namespaces), s.Source.Lacks)
	}
}

func TestWhatAFileLacksIsSaid(t *testing.T) {
	for file, want := range map[string]string{
		nodeA: "no pods in it",
		nodeA + `{"apiVersion": "v1", "kind": "Pod", "spec": {"nodeName": "gone", ` + podWeb[strings.Index(podWeb, `"containers"`):strings.Index(podWeb, `, "status"`)] + `, ` + strings.TrimPrefix(podWeb[:strings.Index(podWeb, `, "spec"`)], "{") + `}`: "1 pod on nodes that are not in it: team/web on gone",
		asKubectl + "---\napiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: team}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n":                                                                           "1 pod disruption budget skipped: it is of policy/v1beta1, and only policy/v1 is read: kubectl convert makes one of the other; 1 object of other kinds skipped",
	} {
		s, _ := noticed(t, file)
		if s.Source == nil || strings.Join(s.Source.Lacks, "; ") != want {
			t.Errorf("%s\ngot %+v\nwant %s", file, s.Source, want)
		}
	}
}

func TestFilesOfTwoClustersAreAnError(t *testing.T) {
	system := func(uid string) string {
		return `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": "` + uid + `"}}`
	}
	for second, want := range map[string]string{"x": "<nil>", "": "<nil>", "y": "it has objects of two clusters: namespace kube-system has the UIDs x and y; read the files of one"} {
		_, _, err := Read(strings.NewReader(nodeA + system("x") + system(second)))
		if fmt.Sprint(err) != want {
			t.Errorf("%q: %v", second, err)
		}
	}
}
