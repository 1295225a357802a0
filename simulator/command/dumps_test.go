package command

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/clusterinfo"
	kubectlget "k8s.io/kubectl/pkg/cmd/get"
	"k8s.io/kubectl/pkg/cmd/util"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// kubectl runs a command of kubectl, and returns what it prints.
func kubectl(t *testing.T, kubeconfig string, args ...string) string {
	t.Helper()
	util.BehaviorOnFatal(func(message string, _ int) { t.Fatalf("kubectl %q: %s", args, message) })
	defer util.DefaultBehaviorOnFatal()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &kubeconfig
	flags.CacheDir = ptr.To(filepath.Join(filepath.Dir(kubeconfig), "kubectl-cache"))
	flags.WrapConfigFn = func(config *rest.Config) *rest.Config {
		config.QPS = -1 // without a limit
		return config
	}
	factory := util.NewFactory(flags)
	cmd := &cobra.Command{Use: "kubectl", SilenceUsage: true}
	cmd.AddCommand(kubectlget.NewCmdGet("kubectl", factory, streams), apply.NewCmdApply("kubectl", factory, streams), clusterinfo.NewCmdClusterInfo(factory, streams))
	cmd.SetArgs(args)
	testkit.Must(t, cmd.ExecuteContext(t.Context()))
	return out.String()
}

// startTrouble starts the cluster of testdata/dumps, and returns its kubeconfig once it is at rest.
func startTrouble(t *testing.T) string {
	t.Helper()
	s, err := simulator.Start(t.Context(), simulator.Config{Variant: "native"})
	testkit.Must(t, err)
	t.Cleanup(func() { testkit.Must(t, s.Stop()) })
	kubectl(t, s.Kubeconfig(), "apply", "-f", "testdata/dumps/cluster.yaml")
	testkit.Eventually(t, "the cluster is at rest", func(ctx context.Context) error {
		return troubleAtRest(ctx, s.Client(), "map[Failed:1 Pending:3 Running:15 Succeeded:1]")
	})
	text, err := os.ReadFile("testdata/dumps/cluster.yaml")
	testkit.Must(t, err)
	larger := strings.ReplaceAll(string(text), "image: stuck:1, resources: {requests: {cpu: 100m}}", `image: stuck:2, resources: {requests: {cpu: "100"}}`)
	kubectl(t, s.Kubeconfig(), "apply", "-f", writeFile(t, t.TempDir(), "larger.yaml", larger))
	dead := []byte(`{"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}]}}`)
	_, err = s.Client().CoreV1().Nodes().Patch(t.Context(), "dead", types.StrategicMergePatchType, dead, metav1.PatchOptions{}, "status")
	testkit.Must(t, err)
	testkit.Must(t, s.Client().CoreV1().Pods("shop").Delete(t.Context(), "kept", metav1.DeleteOptions{}))
	testkit.Eventually(t, "the cluster is at rest", func(ctx context.Context) error {
		return troubleAtRest(ctx, s.Client(), "map[Failed:1 Pending:4 Running:14 Succeeded:1 terminating:1]")
	})
	return s.Kubeconfig()
}

func troubleAtRest(ctx context.Context, client kubernetes.Interface, want string) error {
	pods, err := client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	states := map[string]int{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		state := string(pod.Status.Phase)
		if state == string(v1.PodRunning) && !podutil.IsPodReady(pod) && pod.Spec.NodeName != "dead" {
			state = "not ready: " + pod.Name
		}
		_, scheduled := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
		if state == string(v1.PodPending) && (scheduled == nil || scheduled.Reason != v1.PodReasonUnschedulable) {
			state = "not looked at: " + pod.Name
		}
		if pod.DeletionTimestamp != nil {
			state = "terminating"
		}
		states[state]++
	}
	got := fmt.Sprint(states)
	jobs, err := client.BatchV1().Jobs("shop").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	dead, err := client.CoreV1().Nodes().Get(ctx, "dead", metav1.GetOptions{})
	if err != nil {
		return err
	}
	ended := func(job batchv1.Job) bool { return len(job.Status.Conditions) > 1 }
	at := slices.IndexFunc(jobs.Items, func(job batchv1.Job) bool { return !ended(job) })
	switch {
	case got != want:
		return fmt.Errorf("pods are %s, want %s", got, want)
	case strings.Contains(want, "terminating") && len(dead.Spec.Taints) != 3:
		return fmt.Errorf("the dead node has the taints %v", dead.Spec.Taints)
	case at >= 0:
		return fmt.Errorf("job %s: %+v", jobs.Items[at].Name, jobs.Items[at].Status)
	}
	return nil
}

// dumpsOf makes files and folders of a cluster by kubectl: with all kinds, or, by cluster-info dump, with some of them.
func dumpsOf(t *testing.T, kubeconfig string) (whole, partial map[string]string) {
	t.Helper()
	dir := t.TempDir()
	in := func(folder string) string {
		folder = filepath.Join(dir, folder)
		testkit.Must(t, os.MkdirAll(folder, 0o700))
		return folder
	}
	var kinds []string
	for _, kind := range snapshot.Kinds {
		kinds = append(kinds, strings.Join([]string{kind.Resource.Resource, kind.Resource.Version, kind.Resource.Group}, "."))
	}
	list := kubectl(t, kubeconfig, "get", strings.Join(kinds, ","), "-A", "-o", "json")
	listYAML := kubectl(t, kubeconfig, "get", strings.Join(append(kinds, "configmaps"), ","), "-A", "-o", "yaml", "--show-managed-fields")
	one := writeFile(t, dir, "list.json", list)
	for i := 0; i < len(kinds); i += 9 { // of several kinds
		some := strings.Join(kinds[i:min(i+9, len(kinds))], ",")
		writeFile(t, in("kinds"), fmt.Sprint(i, ".yaml"), kubectl(t, kubeconfig, "get", some, "-A", "-o", "yaml"))
	}
	for name, text := range map[string]string{"list.json": list, "list.yaml": listYAML, "error.yaml": "Error from server (Forbidden): secrets is forbidden\n", "events.log": "kind: Pod\n"} {
		writeFile(t, in("twice"), name, text)
	}
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(listYAML, "\n", "\r\n"))) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	var items struct{ Items []map[string]any }
	testkit.Must(t, json.Unmarshal([]byte(list), &items))
	for _, item := range items.Items {
		delete(item, "kind")
		delete(item, "apiVersion")
	}
	kindless, err := json.Marshal(items.Items)
	testkit.Must(t, err)
	whole = map[string]string{
		"a list in JSON": one, "a list in YAML, UTF-16": writeFile(t, dir, "wide.yaml", string(wide)), "files of some kinds": in("kinds"),
		"a list without kinds": writeFile(t, dir, "kindless.json", string(kindless)), "everything twice": in("twice"),
	}

	dump := []string{"cluster-info", "dump", "-A"}
	kubectl(t, kubeconfig, append(dump, "--output-directory", in("dump"))...)
	kubectl(t, kubeconfig, append(dump, "--output-directory", in("dump-yaml"), "-o", "yaml")...)
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	files := tar.NewWriter(compressed)
	testkit.Must(t, files.AddFS(os.DirFS(in("dump"))))
	testkit.Must(t, errors.Join(files.Close(), compressed.Close()))
	partial = map[string]string{
		"cluster-info dump": in("dump"), "cluster-info dump in YAML": in("dump-yaml"), "cluster-info dump, an archive": writeFile(t, dir, "dump.tar.gz", archive.String()),
		"cluster-info dump, one file": writeFile(t, dir, "dump.txt", kubectl(t, kubeconfig, dump...)),
		"and one file in YAML":        writeFile(t, dir, "dump-yaml.txt", kubectl(t, kubeconfig, append(dump, "-o", "yaml")...)),
	}
	return whole, partial
}

const (
	tooLarge   = `Pod shop/too-large is pending because none of the cluster's 5 nodes can run it: 2 nodes had untolerated taint\(s\); 2 nodes do not have enough free cpu; 1 node is cordoned\.`
	noSuchNode = `Pod shop/no-such-node is pending because none of the cluster's 5 nodes can run it: 5 nodes didn't match the pod's node name regex "\^cncf-"\.`
	lacks      = `Pod shop/lacks-a-volume is pending, and another node would not help: `
	held       = `The upgrade would replace 0 of 1 node and stop at n2, which pod shop/kept cannot leave: it stays terminating until its finalizer example.com/deregister is removed\.`
	noMove     = ` Applying a configuration moves no running pod\.`
	wouldNot   = `1 pod would no longer have a node(, \d+ pods? would have another node as a knock-on effect)? if all pods were rescheduled from scratch under native \(B\) in place of none \(A\)\.`
)

// dumpQuestions are questions to the commands that read a cluster, each with the exit status and the first line of the answer, which is a
// regular expression. A partial dump, without claims, StatefulSets, Jobs and budgets, may have another.
var dumpQuestions = []struct {
	question      string
	status        int
	answer        string
	partialStatus int
	partialAnswer string
}{
	{"fit -f testdata/dumps/one.yaml", 0, `2 pods would fit\.`, 0, ""},
	{"rollout -f testdata/dumps/web.yaml", 0, `The rollout of 1 workload would end\.`, 0, ""},
	{"drain n1", statusNone, ``, statusNone, ""}, // since shop/bare has no controller
	{"drain n1 --force", statusLost, `Draining n1 would leave 1 of \d+ pods without another node\.`, statusLost, ""},
	{"shrink", 0, `You can remove 2 of 5 nodes, and every running pod still has a node\.`, 0, ""},
	{"fail n1", statusLost, `If n1 failed, 1 of \d+ pods would not be back\.`, statusLost, ""},
	{"fail --zone b", statusLost, `If zone b \(empty, n2\) failed, 2 of \d+ pods would not be back\.`, statusLost, ""}, // of db, which is for n2
	{"upgrade n2", statusLost, held, statusLost, ""},
	{"why too-large -n shop", statusLost, tooLarge, statusLost, ""},
	{"why no-such-node -n shop", statusLost, noSuchNode, statusLost, ""},
	{"why lacks-a-volume -n shop", statusLost, lacks + `pod has unbound immediate .*`, statusLost, lacks + `persistentvolumeclaim "unbound" not found .*`},
	{"why bare -n shop", 0, `Pod shop/bare is not pending: it is on node n1\.`, 0, ""},
	{"compare --a none --b native --pods all", statusLost, wouldNot + noMove, statusNone, `A leaves 2 running pods pending, which makes this unreliable\. ` + wouldNot + noMove},
	{"side --config native --pods all --to /dev/null", 0, ``, 0, ""},
}

// ofGo is in messages that speak of Go.
var ofGo = regexp.MustCompile(`unmarshal|goroutine|panic|json: |yaml: |<nil>|\bnil\b|%!|\*v1\.|\bv1\.[A-Z]|interface \{\}|0x[0-9a-f]{6}|\bmap\[`)

// sourceOf is where a report says what it was made of, and in what time.
var sourceOf = regexp.MustCompile(`(?m)on (a copy of .*?|the cluster .*?), under .*? with seed 1| It took .*$`)

// TestDumpsOfKubectl asks every command that reads a cluster about one with trouble, live and as people save it.
func TestDumpsOfKubectl(t *testing.T) {
	kubeconfig := startTrouble(t)
	whole, partial := dumpsOf(t, kubeconfig)
	whole["simulator snapshot"] = filepath.Join(t.TempDir(), "snapshot.yaml.gz")
	status, out, errOut := here(t, "snapshot", "--kubeconfig", kubeconfig, "--to", whole["simulator snapshot"])
	if status != 0 || ofGo.MatchString(out+errOut) {
		t.Errorf("snapshot: status %d: %s%s", status, out, errOut)
	}
	asked := map[string]bool{"snapshot": true}
	// All commands read a cluster in the same way, so each question is asked about one file of each sort, in turn.
	inTurn := func(files map[string]string, i int) (name, file string) {
		names := slices.Sorted(maps.Keys(files))
		name = names[i%len(names)]
		return name, files[name]
	}
	for i, q := range dumpQuestions {
		args := strings.Fields(q.question)
		asked[args[0]] = true
		ask := func(name, flag, file string, status int, answer string) string {
			got, out, errOut := here(t, append(args, flag, file)...)
			line, rest, _ := strings.Cut(out, "\n")
			const qualified = ", as far as the input shows."
			if strings.Contains(line, qualified) != strings.Contains(rest, "\nThe answer may be wrong, ") {
				t.Errorf("%s, %s: the answer and what the input lacks disagree:\n%s", q.question, name, out)
			}
			line = strings.Replace(line, qualified, ".", 1)
			if got != status || !regexp.MustCompile("^"+answer+"$").MatchString(line) || ofGo.MatchString(out+errOut) || strings.Contains(errOut, "more than once") {
				t.Errorf("%s, %s: status %d, want %d and %s:\n%s\n%s", q.question, name, got, status, answer, out, errOut)
			}
			return sourceOf.ReplaceAllString(strings.ReplaceAll(out, flag+"="+file, "CLUSTER"), "")
		}
		want := ask("JSON", "--cluster", whole["a list in JSON"], q.status, q.answer)
		name, file := inTurn(whole, i)
		same := func(name, got string) {
			if got != want {
				t.Errorf("%s, %s:\n%s\nof the list in JSON:\n%s", q.question, name, got, want)
			}
		}
		same(name, ask(name, "--cluster", file, q.status, q.answer))
		if args[0] != "side" {
			same("live", ask("live", "--kubeconfig", kubeconfig, q.status, q.answer))
		}
		name, file = inTurn(partial, i)
		ask(name, "--cluster", file, q.partialStatus, cmp.Or(q.partialAnswer, q.answer))
	}
	for _, file := range []string{whole["everything twice"], partial["cluster-info dump, an archive"]} {
		out := session(t, []string{"--plugin", "native", "--kubelets", "none", "--from", file}, func(base string) {
			on := where(t, base)
			if len(on) != 21 || !strings.HasPrefix(on["shop/bare"], "n1 ") {
				t.Errorf("--from %s: %v", file, on)
			}
		})
		if ofGo.MatchString(out) {
			t.Errorf("--from %s: %s", file, out)
		}
	}
	cmd := newSimulator(nil)
	for _, one := range cmd.Commands() {
		reads := one.Flags().Lookup("cluster") != nil || one.Flags().Lookup("kubeconfig") != nil
		if reads && !asked[one.Name()] {
			t.Errorf("dumpQuestions has none to %s", one.Name())
		}
	}
}

// TestOneCommandOfKubectlIsRecommended compares it with the kinds that are read.
func TestOneCommandOfKubectlIsRecommended(t *testing.T) {
	command, _, _ := strings.Cut(snapshot.KubectlGet, " > ")
	listed := strings.Split(strings.Fields(command)[2], ",")
	withDevices := strings.Split(strings.Fields(snapshot.KubectlGetDevices)[2], ",")
	inAll := []string{"Pod", "ReplicationController", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "CronJob", "Job"}
	short := map[string]string{
		"Node": "no", "Namespace": "ns", "PriorityClass": "pc", "StorageClass": "sc", "PersistentVolume": "pv", "PersistentVolumeClaim": "pvc",
		"PodDisruptionBudget": "pdb", "ResourceQuota": "quota", "LimitRange": "limits",
	}
	for _, kind := range snapshot.Kinds {
		group := kind.Resource.Group
		if group != "resource.k8s.io" && kind.Kind != "PodGroup" && !slices.Contains(inAll, kind.Kind) &&
			!slices.Contains(listed, cmp.Or(short[kind.Kind], kind.Resource.Resource)) {
			t.Errorf("%s does not list %s", command, kind.Resource.Resource)
		}
		if group == "resource.k8s.io" && !slices.Contains(withDevices, kind.Resource.Resource) {
			t.Errorf("%s does not list %s", snapshot.KubectlGetDevices, kind.Resource.Resource)
		}
	}
	for file, has := range map[string]bool{
		"docs/simulator.md": true, "internal/simulator/page/templates/editor.html": true,
		"README.md": false, "docs/capacity.md": false, "docs/compare.md": false, "action.yml": false,
	} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		testkit.Must(t, err)
		if strings.Contains(string(text), command) != has || strings.Contains(string(text), "get nodes,pods") {
			t.Errorf("%s recommends another command than %s", file, command)
		}
	}
}

func TestAnInputThatLacksKindsIsNamedBelowTheAnswer(t *testing.T) {
	const (
		node    = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"%s"},"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"10"}}}`
		pod     = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"db-0","namespace":"shop","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"1","controller":true}]},"spec":{%s"nodeName":"n1","containers":[{"name":"c","image":"c"}]},"status":{"phase":"Running"}}`
		claim   = `"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"shared"}}],`
		some    = `,{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}},{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"system-node-critical"},"value":1}`
		service = `,{"apiVersion":"v1","kind":"Service","metadata":{"name":"kubernetes","namespace":"default"}}`
		csiNode = `,{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n1"},"spec":{"drivers":[]}}`
		owner   = `,{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop","uid":"1"},"spec":{"replicas":1,"serviceName":"db","selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"c","image":"c"}]}}}}`
		system  = some + service + csiNode
		whole   = system + owner
		oldPDB  = `,{"apiVersion":"policy/v1beta1","kind":"PodDisruptionBudget","metadata":{"name":"db","namespace":"shop"},"spec":{"maxUnavailable":0}}`
		refusal = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"poddisruptionbudgets.policy is forbidden"}`
		table   = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[],"rows":[]}`
		ownPC   = `,{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system"}},{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"p"},"value":1}` + service + csiNode
		devices = `,{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},"spec":{}},{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"n1"},"spec":{"driver":"gpu.example.com","nodeName":"n1","pool":{"name":"n1","generation":1,"resourceSliceCount":1}}}`
		noPDBs  = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudgetList","items":[]}`
		warning = "The answer may be wrong"
	)
	list := func(pod, more string) string {
		return `{"apiVersion":"v1","kind":"List","items":[` + fmt.Sprintf(node, "n1") + "," + fmt.Sprintf(node, "n2") + "," + pod + more + "]}"
	}
	plain, claims := fmt.Sprintf(pod, ""), fmt.Sprintf(pod, claim)
	pending := func(pod string) string { return strings.Replace(pod, `"nodeName":"n1",`, "", 1) }
	another := func(pod string) string { return "," + strings.Replace(pod, "db-0", "another", 1) } // which sorts before db-0
	claimsDevice := fmt.Sprintf(pod, `"resourceClaims":[{"name":"g","resourceClaimTemplateName":"gpu"}],`)
	export := func(more string) string {
		return `{"nodes":[{"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"4","memory":"8Gi","pods":"10"}}}],"pods":[` + plain + "]" + more + "}"
	}
	budgets := []string{warning, "no PodDisruptionBudgets: "}
	for name, tt := range map[string]struct {
		text, question string
		wants          []string // none: nothing is lacking
	}{
		"budgets for a drain":            {list(plain, ""), "drain n1", []string{warning, "no PodDisruptionBudgets: one may keep pods from being evicted.\n", snapshot.KubectlGet}},
		"not for a failure":              {list(plain, ""), "fail n1", nil},
		"no budgets are there":           {list(plain, "") + noPDBs, "drain n1", nil},
		"everything was asked for":       {list(plain, whole), "drain n1", nil},
		"a claim that is missing":        {list(claims, whole), "drain n1", []string{warning, "no PersistentVolumeClaims, "}},
		"an owner that is missing":       {list(plain, system), "drain n1", budgets},
		"a list that was refused":        {list(plain, whole) + refusal, "drain n1", budgets},
		"a table":                        {list(plain, whole) + table, "drain n1", budgets},
		"a version that is not read":     {list(plain, whole+oldPDB), "drain n1", budgets},
		"an empty list of another group": {list(plain, "") + strings.Replace(noPDBs, "policy/", "example.com/", 1), "drain n1", budgets},
		"claims for a drain":             {list(claims, ""), "shrink", []string{warning, "no PersistentVolumeClaims, PersistentVolumes, StorageClasses: each of these pods has a claim without a volume here, and gets no node: shop/db-0."}},
		"claims of an inferred set":      {list(strings.Replace(claims, "shared", "v-db-0", 1), ""), "drain n1", []string{`persistentvolumeclaim "v-db-0" not found`, "and gets no node: shop/db-0."}},
		"claims of pods that stay":       {list(claims, ""), "drain n2", []string{"no PodDisruptionBudgets: "}},
		"claims of a pending pod":        {list(pending(claims), another(plain)), "why shop/db-0", []string{warning, "and gets no node: shop/db-0."}},
		"not those of another pod":       {list(pending(plain), another(claims)), "why shop/db-0", nil},
		"claims for a comparison":        {list(claims, ""), "compare --accept-unplaced --a none --b native --pods all", []string{"no PersistentVolumeClaims, "}},
		"quotas for what is new":         {list(claims, ""), "fit -f testdata/dumps/one.yaml", []string{"no ResourceQuotas, LimitRanges: "}},
		"what everyone asks for":         {list(plain, some), "drain n1", budgets},
		"what kubelets make is missing":  {list(plain, some+service), "drain n1", budgets},
		"what all has is missing":        {list(plain, some+csiNode), "drain n1", budgets},
		"a priority class of its own":    {list(plain, ownPC), "drain n1", budgets},
		"an export without the field":    {export(""), "drain n1", budgets},
		"an export with an empty field":  {export(`,"podDisruptionBudgets":[]`), "drain n1", nil},
		"an export with null":            {export(`,"podDisruptionBudgets":null`), "drain n1", budgets},
		"a list of null":                 {list(plain, "") + strings.Replace(noPDBs, "[]", "null", 1), "drain n1", nil},
		"a list with a space":            {list(plain, "") + strings.Replace(noPDBs, "[]", "[ ]", 1), "drain n1", nil},
		"an export of a snapshot":        {export(`,"source":{"taken":"2026-01-01T00:00:00Z"}`), "drain n1", nil},
		"another export beside a list":   {list(plain, "") + `{"namespaces":[]}`, "drain n1", budgets},
		"devices":                        {list(claimsDevice, ""), "drain n1", []string{warning, "no ResourceClaims, ResourceClaimTemplates, DeviceClasses, ResourceSlices: ", snapshot.KubectlGetDevices}},
		"all but devices":                {list(claimsDevice, whole), "drain n1", []string{warning, "no ResourceClaims, ResourceClaimTemplates, DeviceClasses, ResourceSlices: ", snapshot.KubectlGetDevices}},
		"all with devices":               {list(claimsDevice, whole+devices), "drain n1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, t.TempDir(), "cluster.json", tt.text)
			args := append(strings.Fields(tt.question), "--cluster", file)
			_, out, errOut := here(t, args...)
			for _, want := range tt.wants {
				if !strings.Contains(out, want) {
					t.Errorf("it lacks %q: %s%s", want, out, errOut)
				}
			}
			_, inJSON, _ := here(t, append(args, "-o", "json")...)
			var answer struct {
				Verdict string
				Basis   struct{ Lacks []any }
			}
			testkit.Must(t, json.Unmarshal([]byte(inJSON), &answer))
			lacking := tt.wants != nil
			qualified := strings.HasSuffix(answer.Verdict, ", as far as the input shows")
			if strings.Contains(out, warning) != lacking || len(answer.Basis.Lacks) > 0 != lacking || qualified != lacking || !strings.HasPrefix(out, answer.Verdict+".") {
				t.Errorf("it says %s%s; in JSON %s", out, errOut, inJSON)
			}
			if name == "claims of pods that stay" && strings.Contains(out, "PersistentVolumeClaim") {
				t.Errorf("it names claims that do not matter: %s", out)
			}
		})
	}
}

// TestEachKindIsNamedWhereItMatters has a list without a kind for each kind that scheduling depends on, and a question to which it matters.
func TestEachKindIsNamedWhereItMatters(t *testing.T) {
	const (
		node     = `{apiVersion: v1, kind: Node, metadata: {name: %s}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}`
		claim    = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fast, resources: {requests: {storage: 1Gi}}%s}}`
		volume   = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {storageClassName: fast, capacity: {storage: 1Gi}, csi: {driver: d.example.com, volumeHandle: v}}}`
		class    = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: d.example.com, volumeBindingMode: WaitForFirstConsumer}`
		driver   = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: d.example.com}, spec: {storageCapacity: true}}`
		csiNode  = `{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d.example.com, nodeID: n1, allocatable: {count: 1}}]}}`
		budget   = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: shop}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}`
		class2   = `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}`
		wait     = `{apiVersion: v1, kind: Pod, metadata: {name: wait, namespace: shop}, spec: {priorityClassName: high, priority: 9, containers: [{name: c, image: c, resources: {requests: {cpu: "4"}}}]}}`
		volumes  = `volumes: [{name: v, persistentVolumeClaim: {claimName: data}}], `
		selects  = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, namespaceSelector: {matchLabels: {tier: b}}}]}}, `
		mightFit = "fit -f testdata/dumps/one.yaml"
	)
	pod := func(owner, spec string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ` + owner +
			`, name: web, uid: "1", controller: true}]}, spec: {` + spec + `nodeName: n1, containers: [{name: c, image: c, resources: {requests: {cpu: "3"}}}]}, status: {phase: Running}}`
	}
	bound := fmt.Sprintf(claim, ", volumeName: v") + "\n---\n" + volume
	tests := map[string]struct {
		objects  []string
		question string
		effect   string
	}{
		"Namespace":             {[]string{pod("ReplicaSet", selects)}, "drain n1", "selects namespaces in its affinity, and none has labels here: shop/web-0"},
		"PriorityClass":         {[]string{pod("ReplicaSet", "")}, mightFit, "one may be the default"},
		"RuntimeClass":          {[]string{pod("ReplicaSet", "")}, "fit -f FILE", "names one, and is rejected here"},
		"StorageClass":          {[]string{pod("ReplicaSet", volumes), fmt.Sprintf(claim, "")}, "drain n1", "has a claim without a volume here"},
		"PersistentVolumeClaim": {[]string{pod("ReplicaSet", volumes)}, "drain n1", "has a claim without a volume here"},
		"PersistentVolume":      {[]string{pod("ReplicaSet", volumes), fmt.Sprintf(claim, ", volumeName: v")}, "drain n1", "has a claim without a volume here"},
		"CSIDriver":             {[]string{pod("ReplicaSet", volumes), fmt.Sprintf(claim, ""), class}, "drain n1", "how much storage is free is not known here: shop/web-0"},
		"CSIStorageCapacity":    {[]string{pod("ReplicaSet", volumes), fmt.Sprintf(claim, ""), class, driver}, "drain n1", "how much storage is free is not known here: shop/web-0"},
		"CSINode":               {[]string{pod("ReplicaSet", volumes), bound, class}, "drain n1", "of which a node has no limit here: shop/web-0"},
		"VolumeAttachment":      {[]string{pod("ReplicaSet", volumes), bound, class, csiNode}, "drain n1", "which volumes without a pod may use up: shop/web-0"},
		"Service":               {[]string{pod("ReplicaSet", "")}, "drain n1", "its node depends on the Services that select it: shop/web-0"},
		"PodDisruptionBudget":   {[]string{pod("ReplicaSet", ""), class2, wait, strings.ReplaceAll(fmt.Sprintf(node, "n2"), `"4"`, `"1"`)}, "why shop/wait", "preemption would rather spare"},
		"ReplicaSet":            {[]string{pod("ReplicaSet", ""), budget}, "drain n1", "has a budget of the replicas that its owner wants"},
		"StatefulSet":           {[]string{pod("StatefulSet", ""), budget}, "drain n1", "has a budget of the replicas that its owner wants"},
		"ReplicationController": {[]string{pod("ReplicationController", ""), budget}, "drain n1", "has a budget of the replicas that its owner wants"},
		"Deployment":            {[]string{pod("ReplicaSet", ""), budget}, "drain n1", "has a budget of the replicas that its owner wants"},
		"DeviceClass":           {[]string{pod("ReplicaSet", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}], ")}, "drain n1", "claims devices"},
		"ResourceSlice":         {[]string{pod("ReplicaSet", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}], ")}, "drain n1", "claims devices"},
		"ResourceClaim":         {[]string{pod("ReplicaSet", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}], ")}, "drain n1", "claims devices"},
		"ResourceClaimTemplate": {[]string{pod("ReplicaSet", "resourceClaims: [{name: g, resourceClaimTemplateName: gpu}], ")}, "drain n1", "claims devices"},
		"LimitRange":            {[]string{pod("ReplicaSet", "")}, mightFit, "a LimitRange may change what they request"},
		"ResourceQuota":         {[]string{pod("ReplicaSet", "")}, mightFit, "a quota may reject the new pods"},
		"DaemonSet":             {[]string{pod("ReplicaSet", "")}, mightFit + " --grow-with NODE", "those would have a pod on each new node"},
		"Pod":                   {nil, mightFit, "each node is empty here"},
	}
	for _, kind := range snapshot.Kinds {
		inferred := []string{"ControllerRevision", "CronJob", "Job"} // from pods, or without an effect on running pods
		if _, ok := tests[kind.Kind]; !ok && kind.Kind != "Node" && kind.Kind != "PodGroup" && !slices.Contains(inferred, kind.Kind) {
			t.Errorf("%s is in no test", kind.Kind)
		}
	}
	for kind, tt := range tests {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			objects := append([]string{fmt.Sprintf(node, "n1")}, tt.objects...)
			if kind != "PodDisruptionBudget" {
				objects = append(objects, fmt.Sprintf(node, "n2"))
			}
			sandboxed := writeFile(t, dir, "pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {runtimeClassName: r, containers: [{name: c, image: c}]}}")
			like := writeFile(t, dir, "node.yaml", fmt.Sprintf(node, "like"))
			args := strings.Fields(strings.NewReplacer("FILE", sandboxed, "NODE", like).Replace(tt.question))
			text := strings.Join(objects, "\n---\n")
			lacks := func(text string) (effects string) {
				_, out, errOut := here(t, append(args, "-o", "json", "--cluster", writeFile(t, dir, "cluster.yaml", text))...)
				var answer struct {
					Basis struct {
						Lacks []struct {
							Kinds  []string
							Effect string
						}
					}
				}
				if err := json.Unmarshal([]byte(out), &answer); err != nil {
					t.Fatalf("%v: %s%s", err, out, errOut)
				}
				for _, lack := range answer.Basis.Lacks {
					if slices.Contains(lack.Kinds, kind+"s") || slices.Contains(lack.Kinds, kind+"es") || slices.Contains(lack.Kinds, strings.TrimSuffix(kind, "y")+"ies") {
						effects += lack.Effect + "\n"
					}
				}
				return effects
			}
			effects := lacks(text)
			if !strings.Contains(effects, tt.effect) {
				t.Errorf("without %s, it says %q, not %q", kind, effects, tt.effect)
			}
			version := snapshot.KindNamed(kind).Resource.GroupVersion()
			effects = lacks(text + fmt.Sprintf("\n---\n{apiVersion: %s, kind: %sList, items: []}\n", version, kind))
			if effects != "" {
				t.Errorf("with an empty list of %s, it says %q", kind, effects)
			}
		})
	}
}

func TestNoticesFollowTheAnswer(t *testing.T) {
	var pods string
	for _, namespace := range []string{"a", "b", "c"} {
		pods += "- {metadata: {name: it, namespace: " + namespace + "}, spec: {priorityClassName: p" + namespace + ", priority: 1, containers: [{name: c, image: c}]}}\n"
	}
	file := writeFile(t, t.TempDir(), "cluster.yaml", whole("nodes: [{metadata: {name: n1}, status: {allocatable: {cpu: 1, memory: 1Gi, pods: 10}}}]\npods:\n"+pods))
	config := writeFile(t, t.TempDir(), "none.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
	const answered = "simulator: notice: namespace a and 2 more: not in the file: made without labels\nsimulator: notice: priority class pa and 2 more: not in the file: made as its pods say\n"
	for _, question := range []string{"why", "why it -n a", "drain n1", "shrink", "fail n1", "upgrade n1", "fit -f testdata/dumps/one.yaml", "compare --a none --b " + config, "side --to " + filepath.Join(t.TempDir(), "side.json") + " --config none"} {
		var both bytes.Buffer
		run(t.Context(), append(strings.Fields(question), "--cluster", file), &both, &both)
		all := both.String()
		after, ends := strings.CutPrefix(all[max(0, strings.Index(all, answered)):], answered)
		if !ends || strings.Contains(after, "Tried in memory") || strings.Count(after, "\n") > 1 {
			t.Errorf("%s: the notices are not at the end, but for an error: %s", question, all)
		}
	}
}

func TestJSONOfEveryQuestionHasAVerdictAndCounts(t *testing.T) {
	node := writeFile(t, t.TempDir(), "cluster.yaml", pendingPod("nodeSelector: {disk: hdd}, ", ""))
	for question, want := range map[string][2]int{ // pods and of these pending ones
		"why":                                    {1, 1},
		"why -n default":                         {0, 0},
		"why shop/it":                            {1, 1},
		"why default/web-runs":                   {1, 0},
		"fit -f testdata/dumps/one.yaml":         {2, 0},
		"rollout -f testdata/dumps/one.yaml":     {2, 0},
		"drain node-1 --force":                   {1, 1},
		"shrink --force":                         {0, 0},
		"fail node-1":                            {1, 1},
		"upgrade node-2":                         {0, 0},
		"compare --a none --b native --pods all": {2, 1},
	} {
		_, out, errOut := here(t, append(strings.Fields(question), "--cluster", node, "-o", "json")...)
		var answer struct {
			Verdict string
			Counts  map[string]int
			Groups  []struct{ Verdict string }
		}
		err := json.Unmarshal([]byte(out), &answer)
		_, hasPods := answer.Counts["pods"]
		_, hasPending := answer.Counts["pending"]
		if err != nil || answer.Verdict == "" || !hasPods || !hasPending || [2]int{answer.Counts["pods"], answer.Counts["pending"]} != want {
			t.Errorf("%s: %v: want %v, got %q %v %s", question, err, want, answer.Verdict, answer.Counts, errOut)
		}
		verdicts := append(answer.Groups, struct{ Verdict string }{answer.Verdict})
		for _, one := range verdicts {
			if one.Verdict == "" || strings.HasSuffix(one.Verdict, ".") {
				t.Errorf("%s: a verdict has an end, or is empty: %q", question, one.Verdict)
			}
		}
		_, text, _ := here(t, append(strings.Fields(question), "--cluster", node)...)
		if !strings.HasPrefix(text, answer.Verdict+".") || strings.Contains(text, "..") {
			t.Errorf("%s: the report does not begin with %q and a full stop: %s", question, answer.Verdict, text)
		}
	}
}

func TestClusterWithoutNodesHasNoResult(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "pods.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: bare, namespace: shop}\nspec: {containers: [{name: c, image: c}]}\n")
	for _, q := range dumpQuestions {
		refused(t, q.question, map[string][]string{"pods.yaml has no nodes; this lists all kinds: " + snapshot.KubectlGet: {"--cluster", file}})
	}
	node := writeFile(t, dir, "node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: new}\nstatus: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}\n")
	status, out, errOut := here(t, "fit", "-f", "testdata/dumps/one.yaml", "--cluster", file, "--grow-with", node)
	if status != 0 {
		t.Errorf("--grow-with: status %d: %s%s", status, out, errOut)
	}
}

func TestClusterWithoutPodsHasNoResultOfWhatRuns(t *testing.T) {
	file := writeFile(t, t.TempDir(), "nodes.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: \"4\", memory: 8Gi, pods: \"10\"}}\n")
	for _, q := range dumpQuestions {
		switch strings.Fields(q.question)[0] {
		case "compare", "drain", "fail", "shrink", "upgrade":
			refused(t, q.question, map[string][]string{"nodes.yaml has no pods; this lists all kinds: " + snapshot.KubectlGet: {"--cluster", file}})
		}
	}
	status, out, errOut := here(t, "fit", "-f", "testdata/dumps/one.yaml", "--cluster", file)
	if status != 0 || !strings.Contains(out, "nodes.yaml (no pods in it)") {
		t.Errorf("fit: status %d: %s%s", status, out, errOut)
	}
}
