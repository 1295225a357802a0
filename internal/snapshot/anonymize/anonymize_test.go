package anonymize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	s.Source.Taken = metav1.Now()
	testkit.Must(t, digest.Snapshot(s, nil))
	Snapshot(s, nil)
	var file bytes.Buffer
	testkit.Must(t, s.WriteYAML(&file))
	_, notices, err := snapshot.Read(&file)
	testkit.Must(t, err)
	for _, notice := range notices {
		if strings.Contains(notice.Reason, "older version") {
			t.Error(notice)
		}
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
