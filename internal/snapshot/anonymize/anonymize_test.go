package anonymize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

const (
	sampleNode = `
- metadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s, zone: eu-west-1%[2]s, tier: %[3]s, rank: "%[4]d", kubernetes.io/os: linux}}
  spec: {taints: [{key: team, value: payments, effect: NoSchedule}]}`
	samplePod = `
- metadata: {name: payments-%d, namespace: acme-payments, finalizers: [acme.example/payments, batch.kubernetes.io/job-tracking], labels: {app: payments}, annotations: {scheduler.wasmkwokwizardry.io/regex: %q}}
  spec:
    nodeSelector: {zone: eu-west-1a}
    tolerations: [{key: team, operator: Equal, value: payments, effect: NoSchedule}]
    topologySpreadConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: payments}}}]
    containers: [{name: hush, image: "registry.acme.example/payments:latest"}]
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
      {matchFields: [{key: metadata.name, operator: In, values: [%s]}]},
      {matchExpressions: [{key: tier, operator: NotIn, values: [gold]}, {key: rank, operator: Gt, values: ["20"]}]}]}}}`
	sampleSet = `
replicaSets:
- metadata: {name: payments, namespace: acme-payments}
  spec: {selector: {matchLabels: {app: payments}},
    template: {metadata: {labels: {app: payments}, annotations: {scheduler.wasmkwokwizardry.io/regex: acme-.*}}}}
`
)

// sample is a cluster of nodes, and a pod for each pattern.
func sample(t *testing.T, random *rand.Rand, nodes int, patterns []string) *snapshot.Snapshot {
	t.Helper()
	var names []string
	text := "source: {cluster: acme, server: https://acme.example, nodeSelector: team=acme}\nnodes:"
	for i := range nodes {
		names = append(names, fmt.Sprintf("%s-%s-%d", []string{"acme", "ip"}[random.IntN(2)], []string{"kubecon", "cncf", "kube"}[random.IntN(3)], i))
		text += fmt.Sprintf(sampleNode, names[i], []string{"a", "b"}[i%2], []string{"gold", "hush"}[i/2%2], i)
	}
	text += "\npods:"
	for i, pattern := range patterns {
		text += fmt.Sprintf(samplePod, i, pattern, names[i])
	}
	s, _, err := snapshot.Read(strings.NewReader(text + sampleSet))
	testkit.Must(t, err)
	return s
}

// patternsOfAllKinds are translated word by word, or cut through words, or are
// wrong, or too many nodes to list.
var patternsOfAllKinds = []string{
	"kubecon-.*", "^acme-kubecon-[0-9]+$", `^(?:acme|ip)-cncf-\d+$`, `\Aacme-`, "(?i)KUBECON-1", "acme", "", "unknown", `ip\-kube-\d`, `(?P<which>cncf)-[[:digit:]]$`,
	"^ac", "kube.*", "[ck]", "kube(con)?-1", "acm?e", "c{1,2}ncf", "con-[1-3]", `acm\x65-`, "a[c]me-kubecon-1.", "(", "[a", "^[a-j]",
}

func TestSchedulersDecideAsBefore(t *testing.T) {
	outcomes := map[bool]int{}
	for seed := range uint64(8) {
		nodes := 40 + 300*int(seed%2) // of the many, no list is short enough for a regex
		s := sample(t, seeded(seed), nodes, patternsOfAllKinds)
		was := sample(t, seeded(seed), nodes, patternsOfAllKinds)
		anonymize(s, nil, seeded(seed))
		pod, node := s.Pods[0], s.Nodes[0]
		if pod.Labels["app"] != s.ReplicaSets[0].Spec.Selector.MatchLabels["app"] || !strings.HasSuffix(pod.Spec.Containers[0].Image, ":latest") ||
			node.Labels[v1.LabelOSStable] != "linux" || node.Labels[v1.LabelHostname] != node.Name || s.Source.Cluster != "" {
			t.Errorf("it is not consistent: %+v, %+v", pod, node)
		}
		for i := range s.Pods {
			noted := slices.ContainsFunc(s.Source.Notes, func(n snapshot.Notice) bool {
				return n.About == "regex "+s.Pods[i].Annotations[regex.Annotation] && strings.Contains(n.Reason, "is not kept")
			})
			outcomes[noted]++
			before, after := byRegex(t, was, i), byRegex(t, s, i)
			if slices.Equal(before, after) == noted {
				t.Errorf("%q matched %v, and as %q matches %v; noted: %t", patternsOfAllKinds[i], before, s.Pods[i].Annotations[regex.Annotation], after, noted)
			}
			before, after = bySelector(t, was, i), bySelector(t, s, i)
			if !slices.Equal(before, after) || len(after) == 0 {
				t.Errorf("pod %d could be on %v, and now on %v", i, before, after)
			}
		}
	}
	if outcomes[true] == 0 || outcomes[true] > outcomes[false]/4 {
		t.Errorf("%d patterns are kept, %d are not", outcomes[false], outcomes[true])
	}
}

// byRegex are the nodes that a pod's regex matches.
func byRegex(t *testing.T, s *snapshot.Snapshot, pod int) (matches []int) {
	t.Helper()
	rules, err := regex.Default.Compile(s.Pods[pod].Annotations)
	if err != nil {
		return []int{-1}
	}
	for i := range s.Nodes {
		if rules.Judge(s.Nodes[i].Name) == regex.Qualifies {
			matches = append(matches, i)
		}
	}
	return matches
}

// bySelector are the nodes that its selector, its affinity and its tolerations allow.
func bySelector(t *testing.T, s *snapshot.Snapshot, pod int) (matches []int) {
	t.Helper()
	required := nodeaffinity.GetRequiredNodeAffinity(&s.Pods[pod])
	for i := range s.Nodes {
		ok, err := required.Match(&s.Nodes[i])
		testkit.Must(t, err)
		if ok && s.Pods[pod].Spec.Tolerations[0].Value == s.Nodes[i].Spec.Taints[0].Value {
			matches = append(matches, i)
		}
	}
	return matches
}

// inFile are the words of a snapshot's file, in lower case.
func inFile(t *testing.T, s *snapshot.Snapshot) map[string]bool {
	t.Helper()
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	found := map[string]bool{}
	for _, word := range aWord.FindAllString(file.String(), -1) {
		found[strings.ToLower(word)] = true
	}
	return found
}

// TestAnonymizeShowsNoSecret failed in 73 of 20,000 runs:
// "eu" came out as itself.
func TestAnonymizeShowsNoSecret(t *testing.T) {
	secret := []string{"acme", "kubecon", "cncf", "payments", "eu", "west", "gold", "hush"}
	for seed := range uint64(100) {
		s := sample(t, seeded(1), 8, []string{"^acme-kubecon-[0-9]+$", "kube.*", "payments|acme"})
		anonymize(s, nil, seeded(seed))
		shown := inFile(t, s)
		for _, word := range secret {
			if shown[word] {
				t.Errorf("seed %d: it shows %s", seed, word)
			}
		}
	}
}

// TestAnonymizeReplacesUIDs: with those of a cluster, its audit log would tell the names.
func TestAnonymizeReplacesUIDs(t *testing.T) {
	const uid, claim = "107766ec-83cb-48fe-9a9b-76cfb5f38453", "4534bccf-f073-4ac3-a8e4-083d68d0a322"
	s, _, err := snapshot.Read(strings.NewReader(`
source: {digests: {key: a2V5}}
replicaSets:
- metadata: {name: web, namespace: acme, uid: ` + uid + `, annotations: {kubectl.kubernetes.io/last-applied-configuration: acme}}
  spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}}}
pvs: [{metadata: {name: pvc-` + claim + `}, spec: {claimRef: {uid: ` + claim + `}}}]
pods:
- metadata: {name: web-1, namespace: acme, ownerReferences: [{kind: ReplicaSet, name: web, uid: ` + uid + `}]}
  spec: {containers: [{name: c, image: c}]}
`))
	testkit.Must(t, err)
	anonymize(s, nil, seeded(1))
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	for _, secret := range []string{uid, claim, "acme", "a2V5"} {
		if strings.Contains(file.String(), secret) {
			t.Errorf("it shows %s:\n%s", secret, &file)
		}
	}
	if s.ReplicaSets[0].UID != s.Pods[0].OwnerReferences[0].UID || s.PVs[0].Name[len("pvc-"):] != string(s.PVs[0].Spec.ClaimRef.UID) {
		t.Errorf("UIDs that were equal are not:\n%s", &file)
	}
}

// TestAnonymousFileIsNoneOfAnOlderVersion: it has no key of digests, as files of older versions have none.
func TestAnonymousFileIsNoneOfAnOlderVersion(t *testing.T) {
	s := sample(t, seeded(1), 2, []string{"acme"})
	s.Source.Taken, s.Source.Unlisted = metav1.Now(), []string{"ResourceQuota"}
	testkit.Must(t, digest.Snapshot(s, nil))
	Snapshot(s, nil)
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	is, notices, err := snapshot.Read(&file)
	testkit.Must(t, err)
	if !slices.Equal(is.Source.Unlisted, []string{"ResourceQuota"}) {
		t.Errorf("kinds that were not listed: %v", is.Source.Unlisted)
	}
	for _, notice := range notices {
		if strings.Contains(notice.Reason, "older version") {
			t.Error(notice)
		}
	}
}

// keeps are the fields and types that anonymous files show, which docs/simulator.md and the file's notes name.
var keeps = map[string]string{
	"SchedulerName": "a name of schedulers", "Resource": "a name of resources", "ResourceName": "a name of resources",
	"Key": "a key of labels and taints", "TopologyKey": "a key of labels", "TopologyKeys": "keys of labels", "MatchLabelKeys": "keys of labels",
	"MismatchLabelKeys": "keys of labels", "ObjectFieldSelector": "a field of the pod",
	"Driver": "a driver", "Attacher": "a driver", "Provisioner": "a driver", "CSINodeDriver.Name": "a driver", "DeviceID": "a device",
	"Request": "a request of devices", "Requests": "requests of devices", "DeviceRequest.Name": "a request", "DeviceSubRequest.Name": "a request",
	"Device": "a device", "CounterSet": "a device's", "DeviceToleration": "of a device's taints", "DeviceClassSpec": "by attributes of devices", "Expression": "by attributes of devices",
	"BindingConditions": "a device's", "BindingFailureConditions": "a device's", "DeclaredFeatures": "Kubernetes' own", "KubeletVersion": "a version",
	"Reason": "a reason", "Schedule": "a schedule", "TimeZone": "of a schedule", "KeyType": "Kubernetes' own", "ClusterIP": "None", "TypeMeta": "the object's kind",
	"ManagedFieldsEntry": "digests drop them",
}

const marked = "hush.example/hush"

// mark gives all that an object may have a text with a marked word, but for what keeps has, and words of types of their own, which API servers check.
func mark(v reflect.Value) {
	t := v.Type()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		mark(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		mark(v.Index(0))
	case reflect.String:
		of := t.Name()
		if of == "string" || of == "UID" || of == "UniqueVolumeName" || of == "ResourceID" || of == "FinalizerName" || strings.HasSuffix(of, "ConditionType") {
			v.SetString(marked)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		value := reflect.New(t.Elem()).Elem()
		mark(value)
		keys := []string{"key"}
		switch {
		case t.Key() == reflect.TypeFor[v1.ResourceName]():
			keys = []string{"hush.storageclass.storage.k8s.io/requests.storage", "hush.deviceclass.resource.k8s.io/devices", "requests.deviceclass.resource.kubernetes.io/hush"}
		}
		for _, key := range keys {
			v.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), value)
		}
	case reflect.Struct:
		if t == reflect.TypeFor[resource.Quantity]() || t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[runtime.RawExtension]() {
			return
		}
		for i := range v.NumField() {
			field := t.Field(i)
			kept := false
			for _, name := range []string{field.Name, t.Name() + "." + field.Name, field.Type.Name()} {
				kept = kept || keeps[name] != ""
			}
			if field.IsExported() && (!kept || field.Type.Kind() == reflect.Struct && field.Name == "Resource") && keeps[t.Name()] == "" {
				mark(v.Field(i))
			}
		}
		if meta, ok := v.Addr().Interface().(*metav1.ObjectMeta); ok {
			for _, key := range []string{"kubectl.kubernetes.io/default-container", "kubernetes.io/change-cause", "container.apparmor.security.beta.kubernetes.io/hush", "acme"} {
				meta.Annotations[key] = marked
			}
		}
	}
}

// TestNoFieldShowsAMarkedWord of an object of any kind with all its fields.
func TestNoFieldShowsAMarkedWord(t *testing.T) {
	for _, kind := range snapshot.Kinds {
		o := kind.Example()
		mark(reflect.ValueOf(o).Elem())
		if kind.Kind == "CSIDriver" {
			o.SetName("csi.example.com")
		}
		s := &snapshot.Snapshot{Source: &snapshot.Source{}}
		for list := range reflect.ValueOf(s).Elem().Fields() {
			field := reflect.ValueOf(s).Elem().FieldByIndex(list.Index)
			if field.Type() == reflect.SliceOf(reflect.TypeOf(o).Elem()) {
				field.Set(reflect.Append(field, reflect.ValueOf(o).Elem()))
			}
		}
		anonymize(s, nil, seeded(1))
		var file bytes.Buffer
		testkit.Must(t, s.WriteYAML(&file))
		for line := range strings.Lines(file.String()) {
			if strings.Contains(strings.ToLower(line), "hush") {
				t.Errorf("%s: %s", kind.Title, line)
			}
		}
	}
}

// TestAnonymizeKeepsWhatKubernetesRecognizes also in templates, and what an API server checks.
func TestAnonymizeKeepsWhatKubernetesRecognizes(t *testing.T) {
	s, _, err := snapshot.Read(strings.NewReader(`
source: {}
pods:
- metadata: {name: web, namespace: acme, finalizers: [foregroundDeletion, orphan, acme.example/x]}
  spec:
    readinessGates: [{conditionType: target-health.elbv2.k8s.aws/k8s-acme-web}]
    containers: [{name: web, image: "r.example/bücher/größe:1", ports: [{containerPort: 80, hostIP: 10.1.2.3}, {containerPort: 81, hostIP: 127.0.0.1}], env: [{name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]
  status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}, {type: target-health.elbv2.k8s.aws/k8s-acme-web, status: "True"}]}
cronJobs:
- metadata: {name: nightly, namespace: acme}
  spec:
    schedule: "0 3 * * MON"
    timeZone: Europe/Berlin
    jobTemplate: {spec: {template: {metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/web: runtime/default, scheduler.wasmkwokwizardry.io/regex: "(?P<acme>a)[a][c]me"}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}}
namespaces: [{metadata: {name: acme, labels: {pod-security.kubernetes.io/enforce: restricted}}}]
`))
	testkit.Must(t, err)
	anonymize(s, nil, seeded(1))
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	pod := s.Pods[0]
	template := s.CronJobs[0].Spec.JobTemplate.Spec.Template
	for _, kept := range []string{
		"- foregroundDeletion", "- orphan", "reason: Unschedulable", "type: PodScheduled", "0 3 * * MON", "Europe/Berlin", "fieldPath: metadata.name", "enforce: restricted", "hostIP: 127.0.0.1",
		"container.apparmor.security.beta.kubernetes.io/" + template.Spec.Containers[0].Name + ": runtime/default",
	} {
		if !strings.Contains(file.String(), kept) {
			t.Errorf("it lacks %s", kept)
		}
	}
	for _, secret := range []string{"acme", "aws", "bücher", "größe", "10.1.2.3", "[a][c]", "web"} {
		if strings.Contains(file.String(), secret) {
			t.Errorf("it shows %s", secret)
		}
	}
	if pod.Spec.ReadinessGates[0].ConditionType != pod.Status.Conditions[1].Type {
		t.Error("a readiness gate has another condition")
	}
	if t.Failed() {
		t.Log(&file)
	}
}

// TestAnonymizeDrawsOtherWordsForEachSnapshot is the one test without a seed: that
// all 60 letters of its words are drawn again is as good as impossible.
func TestAnonymizeDrawsOtherWordsForEachSnapshot(t *testing.T) {
	var files [2]bytes.Buffer
	for i := range files {
		s := sample(t, seeded(1), 8, []string{"acme"})
		Snapshot(s, nil)
		testkit.Must(t, s.WriteYAML(&files[i]))
	}
	if bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Errorf("the same twice: %s", &files[0])
	}
}

// TestWordsStayApart with few words of a length, about half of all that there are, one
// less than all, and all.
func TestWordsStayApart(t *testing.T) {
	for seed := range uint64(30) {
		random := seeded(seed)
		for _, some := range [][2]int{{1, 1}, {1, 12}, {1, 13}, {1, 14}, {1, 25}, {1, 26}, {2, 338}, {2, 339}, {2, 676}, {9, 30}} {
			length, words := some[0], some[1]
			found := secrets{}
			for len(found) < words {
				found.add(draw(length, random))
			}
			checkApart(t, seed, found, newWords(found, random))
		}
	}
}

func checkApart(t *testing.T, seed uint64, found secrets, w words) {
	t.Helper()
	was := map[string]string{}
	all, amongSecrets := 0, 0
	for word := range found {
		all = 1
		for range word {
			all *= 26
		}
		other := w.text(word)
		if other == word || len(other) != len(word) || common[other] || was[other] != "" {
			t.Errorf("seed %d, %d words: %s becomes %s, as does %q", seed, len(found), word, other, was[other])
		}
		was[other] = word
		if found[other] {
			amongSecrets++
		}
	}
	free := all - len(found)
	if free < len(found) && amongSecrets != len(found)-free || free >= len(found) && amongSecrets > 0 {
		t.Errorf("seed %d: %d of %d words become other secrets, with %d free ones", seed, amongSecrets, len(found), free)
	}
}

func TestWordsKeepTheirLetterCase(t *testing.T) {
	found := secrets{}
	found.inText("Ax-ax_AX")
	w := newWords(found, seeded(1))
	small := w.text("ax")
	got, want := w.text("Ax-ax_AX"), strings.ToUpper(small[:1])+small[1:]+"-"+small+"_"+strings.ToUpper(small)
	if got != want {
		t.Errorf("capital letters: %s, want %s", got, want)
	}
	got = w.text("kube-system/linux-amd64:latest")
	if got != "kube-system/linux-amd64:latest" {
		t.Errorf("common words become %s", got)
	}
}
