package referee_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
)

// do does live what a question asks, and returns the lines of a right answer.
func (h *hunter) do(t scenarios.T, q *question, before *snapshot.Snapshot, predicted []string) []string {
	nodes, replaced := q.Nodes, 0
	switch q.Ask {
	case "drain":
		for _, node := range nodes {
			h.patchNode(t, node, `{"spec":{"unschedulable":true}}`)
		}
		for _, node := range nodes {
			h.empty(t, before, node)
		}
		h.empty(t, before, nodes...)
	case "fail":
		for _, node := range nodes {
			h.patchNode(t, node, `{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown"}]}}`, "status")
		}
	case "upgrade":
		for replaced < len(q.Nodes) && h.replace(t, q.Nodes[replaced]) {
			replaced++
		}
		nodes = nodes[:min(len(nodes), replaced+1)]
	case "until-full":
		return h.fill(t, q, predicted)
	default:
		return h.rollOut(t, q, before, predicted)
	}
	return h.until(t, func(now *snapshot.Snapshot) []string {
		lines := countLines("without a node", left(before, now, nodes))
		if q.Ask == "upgrade" {
			lines = append(lines, fmt.Sprintf("%d nodes are replaced", replaced))
		}
		return lines
	}, predicted)
}

func (h *hunter) patchNode(t scenarios.T, name, patch string, subresource ...string) {
	_, err := h.Client().CoreV1().Nodes().Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	testkit.Must(t, err)
}

// until waits until nothing more comes of it, and returns the lines: soon if they are as predicted.
func (h *hunter) until(t scenarios.T, lines func(*snapshot.Snapshot) []string, predicted []string) (are []string) {
	const soon, late = 600 * time.Millisecond, 13 * time.Second // a Job waits for 10 s after a failure
	const longest = 24 * time.Second                            // until a third node of a zone is tainted, or will not be
	was, since, began := "", time.Now(), time.Now()
	h.wait(t, "nothing more comes of it", func(context.Context) error {
		now := h.capture(t)
		state := ""
		pods := make([]*v1.Pod, len(now.Pods))
		for i := range now.Pods {
			pods[i] = &now.Pods[i]
			state += fmt.Sprint(pods[i].UID, pods[i].Spec.NodeName, pods[i].DeletionTimestamp)
		}
		enough := soon
		if lines != nil {
			are = slices.Sorted(slices.Values(lines(now)))
			state += fmt.Sprint(are)
			if !slices.Equal(are, predicted) {
				enough = late
			}
		}
		err := h.atRest(pods)
		if err == nil && time.Since(began) < longest {
			err = cmp.Or(h.nodesAtRest(pods), podsGoOn(now), controllersGoOn(now))
		}
		if err != nil || state != was {
			was, since = state, time.Now()
		}
		if time.Since(since) < enough {
			return errors.Join(err, fmt.Errorf("it comes to %q", are))
		}
		return nil
	})
	return are
}

// podsGoOn is an error while the scheduler has not looked at a pod or is binding it, kubelets start or end pods, or a taint is to evict some.
func podsGoOn(now *snapshot.Snapshot) error {
	nodes := map[string]*v1.Node{}
	for i := range now.Nodes {
		nodes[now.Nodes[i].Name] = &now.Nodes[i]
	}
	for i := range now.Pods {
		pod := &now.Pods[i]
		_, tried := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
		if tried == nil && pod.DeletionTimestamp == nil {
			return fmt.Errorf("pod %s is to be scheduled", pod.Name)
		}
		node := nodes[pod.Spec.NodeName]
		if node == nil || podutil.IsPodTerminal(pod) {
			continue
		}
		alive := nodeutil.IsNodeReady(node) && (pod.DeletionTimestamp != nil || !podutil.IsPodReady(pod))
		evicted := pod.DeletionTimestamp == nil && slices.ContainsFunc(node.Spec.Taints, func(taint v1.Taint) bool {
			return taint.Effect == v1.TaintEffectNoExecute && slices.ContainsFunc(pod.Spec.Tolerations, func(t v1.Toleration) bool { return t.Key == taint.Key && t.TolerationSeconds != nil })
		})
		if alive || evicted {
			return fmt.Errorf("pod %s is to start or to end", pod.Name)
		}
	}
	return nil
}

// controllersGoOn is an error while a controller has seen less than there is, or waits for a time.
func controllersGoOn(now *snapshot.Snapshot) error {
	var all object
	convert(now, &all)
	for _, kind := range []string{"deployments", "statefulSets", "daemonSets"} {
		for _, o := range asList(all[kind]) {
			status := at(o.(object), "status")
			unseen := numberIn(status, "observedGeneration") < numberIn(at(o.(object), "metadata"), "generation")
			waits := numberIn(at(o.(object), "spec"), "minReadySeconds") > 0 && numberIn(status, "availableReplicas", "numberAvailable") < numberIn(status, "readyReplicas", "numberReady")
			if unseen || waits {
				return fmt.Errorf("%s of %s go on", kind, at(o.(object), "metadata")["name"])
			}
		}
	}
	for _, job := range now.Jobs {
		ends := len(job.Status.Conditions) > 0 || ptr.Deref(job.Spec.Suspend, false)
		if !ends && job.Status.Active < ptr.Deref(job.Spec.Parallelism, 1) {
			return fmt.Errorf("Job %s has %d pods", job.Name, job.Status.Active)
		}
	}
	return nil
}

// numberIn is the sum of fields of an object that are numbers.
func numberIn(of object, fields ...string) (sum int) {
	for _, field := range fields {
		n, _ := of[field].(float64)
		sum += int(n)
	}
	return sum
}

func workloadOf(pod *v1.Pod) string {
	owner := metav1.GetControllerOf(pod)
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	switch {
	case owner == nil:
		return "Pod default/" + pod.Name
	case owner.Kind == "ReplicaSet" && hash != "":
		return "Deployment default/" + strings.TrimSuffix(owner.Name, "-"+hash)
	}
	return owner.Kind + " default/" + owner.Name
}

// leaves says whether kubectl drain has a pod leave nodes, or would with --force.
func leaves(pod *v1.Pod, nodes []string) bool {
	return slices.Contains(nodes, pod.Spec.NodeName) && !strings.HasPrefix(workloadOf(pod), "DaemonSet ")
}

// empty evicts the pods that there were on nodes, as long as some go.
func (h *hunter) empty(t scenarios.T, before *snapshot.Snapshot, nodes ...string) {
	for gone := 1; gone > 0; h.until(t, nil, nil) {
		gone = 0
		for _, was := range before.Pods {
			pod, err := h.Client().CoreV1().Pods(was.Namespace).Get(t.Context(), was.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) || pod.UID != was.UID || !leaves(pod, nodes) {
				continue
			}
			testkit.Must(t, err)
			if metav1.GetControllerOf(pod) == nil || pod.DeletionTimestamp != nil {
				continue
			}
			h.waitOutBackoffs(t)
			err = h.Client().CoreV1().Pods(was.Namespace).EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
			if err == nil {
				gone++
			} else if !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) { // since its Job has failed meanwhile
				t.Fatalf("evict %s: %v", pod.Name, err)
			}
		}
	}
}

// replace is the part of an upgrade of one node. It is false if a pod may not leave: one that only a dead kubelet keeps may.
func (h *hunter) replace(t scenarios.T, name string) bool {
	was := h.capture(t)
	h.patchNode(t, name, `{"spec":{"unschedulable":true}}`)
	h.until(t, nil, nil)
	h.empty(t, was, name)
	now := h.capture(t)
	for i := range now.Pods {
		pod := &now.Pods[i]
		there := slices.ContainsFunc(was.Pods, func(p v1.Pod) bool { return p.UID == pod.UID && leaves(&p, []string{name}) })
		if there && (pod.DeletionTimestamp == nil && leaves(pod, []string{name}) || pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0) {
			return false
		}
	}
	testkit.Must(t, h.Client().CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}))
	h.until(t, nil, nil)
	h.waitOutBackoffs(t)
	h.addNode(t, was, name, name+"-new")
	return true
}

// addNode adds a node like another one, with such devices. Pods of DaemonSets come first.
func (h *hunter) addNode(t scenarios.T, in *snapshot.Snapshot, like, name string) {
	node := in.Nodes[slices.IndexFunc(in.Nodes, func(n v1.Node) bool { return n.Name == like })].DeepCopy()
	node.ObjectMeta = metav1.ObjectMeta{Name: name, Labels: node.Labels}
	node.Labels[v1.LabelHostname] = name
	node.Spec = v1.NodeSpec{Unschedulable: true, Taints: slices.DeleteFunc(node.Spec.Taints, func(t v1.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") })}
	node.Status = v1.NodeStatus{Capacity: node.Status.Capacity, Allocatable: node.Status.Allocatable, Conditions: []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}}
	_, err := h.Client().CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	testkit.Must(t, err)
	h.until(t, nil, nil)
	for i := range in.ResourceSlices {
		slice := in.ResourceSlices[i].DeepCopy()
		if ptr.Deref(slice.Spec.NodeName, "") != like {
			continue
		}
		slice.ObjectMeta = metav1.ObjectMeta{Name: name + "-" + slice.Name}
		slice.Spec.NodeName, slice.Spec.Pool.Name = &name, name
		_, err := h.Client().ResourceV1().ResourceSlices().Create(t.Context(), slice, metav1.CreateOptions{})
		testkit.Must(t, err)
	}
	time.Sleep(backoff)
	h.patchNode(t, name, `{"spec":{"unschedulable":null}}`)
	h.until(t, nil, nil)
}

// backoff is how long kube-scheduler does not try a pod again, at most, with the second that it rounds up to: a real node takes longer
// to come.
const backoff = 12 * time.Second

// waitOutBackoffs waits until pods that are pending are out of backoff: until a real kubelet has ended a pod, or a real node comes, they are.
func (h *hunter) waitOutBackoffs(t scenarios.T) {
	pending := func(pod v1.Pod) bool {
		_, tried := podutil.GetPodCondition(&pod.Status, v1.PodScheduled)
		return pod.DeletionTimestamp == nil && tried != nil && tried.Status == v1.ConditionFalse
	}
	if slices.ContainsFunc(h.capture(t).Pods, pending) {
		time.Sleep(backoff)
	}
}

// left says how many pods of each workload have no node but some that go.
func left(before, now *snapshot.Snapshot, nodes []string) map[string]int {
	there, gone, stay := map[types.UID]*v1.Pod{}, map[string]int{}, map[string]int{}
	for i := range now.Pods {
		there[now.Pods[i].UID] = &now.Pods[i]
	}
	for i := range before.Pods {
		was := &before.Pods[i]
		is := there[was.UID]
		name := workloadOf(was)
		if was.Spec.NodeName != "" || strings.HasPrefix(name, "StatefulSet ") { // others are alike: one that was pending may come in the place of another
			delete(there, was.UID)
		}
		counts := was.Spec.NodeName != "" && !podutil.IsPodTerminal(was) && (was.DeletionTimestamp == nil || strings.HasPrefix(name, "StatefulSet "))
		switch {
		case !counts || strings.HasPrefix(name, "DaemonSet "):
		case is == nil || is.DeletionTimestamp != nil && was.DeletionTimestamp == nil:
			gone[name]++
		case leaves(was, nodes):
			stay[name]++
		}
	}
	for _, pod := range there {
		if pod.Spec.NodeName != "" && !slices.Contains(nodes, pod.Spec.NodeName) && pod.DeletionTimestamp == nil && !podutil.IsPodTerminal(pod) {
			gone[workloadOf(pod)]--
		}
	}
	for name, n := range gone {
		stay[name] += max(0, n)
	}
	return stay
}

// rollOut applies manifests, and adds nodes until all pods fit, or as many as are predicted.
func (h *hunter) rollOut(t scenarios.T, q *question, before *snapshot.Snapshot, predicted []string) (lines []string) {
	rejected := map[string]bool{}
	for _, m := range q.Manifests {
		err := h.apply(t.Context(), m)
		rejected[nameOf(m)] = err != nil
	}
	most := 0
	for _, line := range predicted {
		_, _ = fmt.Sscanf(line, "%d more nodes", &most)
	}
	for added := 0; ; added++ {
		missing := 0
		lines = h.until(t, func(now *snapshot.Snapshot) []string {
			var lines []string
			lines, missing = q.applied(before, now, rejected)
			if q.Ask == "grow-with" {
				lines = append(lines, fmt.Sprintf("%d more nodes", added))
			}
			return lines
		}, predicted)
		if missing == 0 || added >= most {
			return lines
		}
		h.addNode(t, before, q.Nodes[0], fmt.Sprint(q.Nodes[0], "-", added+1))
	}
}

func nameOf(manifest []byte) string {
	var is metav1.PartialObjectMetadata
	testkit.Must(attempt{}, json.Unmarshal(manifest, &is))
	return is.Kind + " default/" + is.Name
}

// applied has the lines of manifests that were applied, and how many pods are without a node.
func (q *question) applied(before, now *snapshot.Snapshot, rejected map[string]bool) (lines []string, missing int) {
	var all object
	convert(now, &all)
	lost := left(before, now, nil)
	others := 0
	for _, m := range q.Manifests {
		var manifest object
		testkit.Must(attempt{}, json.Unmarshal(m, &manifest))
		kind, name := manifest["kind"].(string), nameOf(m)
		if listOf[kind] == "" && kind != "Pod" {
			others += map[bool]int{true: 1}[rejected[name]]
			continue
		}
		delete(lost, name)
		newest, wants, old := newestOf(all, kind, at(manifest, "metadata")["name"].(string))
		fit, pending := 0, 0
		for i := range now.Pods {
			pod := &now.Pods[i]
			switch {
			case workloadOf(pod) != name || pod.DeletionTimestamp != nil || podutil.IsPodTerminal(pod):
			case newest != "" && newest != cmp.Or(pod.Labels[appsv1.ControllerRevisionHashLabelKey], pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]):
			case pod.Spec.NodeName != "":
				fit++
			default:
				pending++
			}
		}
		without := pending + max(0, wants-fit-pending)
		if rejected[name] && wants < 0 {
			wanted, _ := cmp.Or(at(manifest, "spec")["replicas"], at(manifest, "spec")["parallelism"]).(float64)
			without = max(1, int(wanted)) // it is new
		}
		missing += without
		lines = append(lines, q.workloadLine(name, fit, without, max(0, old)))
	}
	for _, n := range lost {
		missing += max(0, n)
	}
	for i := range now.Pods {
		pod := &now.Pods[i]
		was := slices.ContainsFunc(before.Pods, func(p v1.Pod) bool { return p.UID == pod.UID })
		if pod.Spec.NodeName == "" && !was && strings.HasPrefix(workloadOf(pod), "DaemonSet ") { // in place of one that was preempted
			missing++
		}
	}
	return slices.Concat(lines, countLines("preempted", lost), countLines("rejected", map[string]int{"others": others})), missing
}

// newestOf is the hash of the newest revision of a workload, how many pods of it are wanted, and how many older ones are to go.
func newestOf(all object, kind, name string) (hash string, wants, old int) {
	if kind == "Pod" {
		return "", 1, 0
	}
	owned := func(kind string) (some []object) {
		for _, o := range asList(all[kind]) {
			for _, owner := range asList(at(o.(object), "metadata")["ownerReferences"]) {
				if owner.(object)["name"] == name {
					some = append(some, o.(object))
				}
			}
		}
		return some
	}
	i := slices.IndexFunc(asList(all[listOf[kind]]), func(o any) bool { return at(o.(object), "metadata")["name"] == name })
	if i < 0 {
		return "", -1, 0
	}
	o := asList(all[listOf[kind]])[i].(object)
	spec, status := at(o, "spec"), at(o, "status")
	wants = numberIn(spec, "replicas")
	old = numberIn(status, "replicas", "currentNumberScheduled") - numberIn(status, "updatedReplicas", "updatedNumberScheduled")
	switch kind {
	case "Deployment":
		const revision = "deployment.kubernetes.io/revision"
		paused := 0
		for _, set := range owned("replicaSets") {
			paused += numberIn(at(set, "spec"), "replicas")
			if at(set, "metadata", "annotations")[revision] == at(o, "metadata", "annotations")[revision] {
				hash = at(set, "metadata", "labels")[appsv1.DefaultDeploymentUniqueLabelKey].(string)
			}
		}
		if spec["paused"] == true {
			hash, wants = "", paused
		}
	case "StatefulSet":
		hash, _ = status["updateRevision"].(string)
		if at(spec, "updateStrategy")["type"] == "OnDelete" {
			return hash, wants - old, old
		}
		kept := min(old, numberIn(at(spec, "updateStrategy", "rollingUpdate"), "partition"))
		return hash, wants - kept, old - kept
	case "DaemonSet":
		last := -1
		for _, revision := range owned("controllerRevisions") {
			if numberIn(revision, "revision") > last {
				last = numberIn(revision, "revision")
				hash = at(revision, "metadata", "labels")[appsv1.ControllerRevisionHashLabelKey].(string)
			}
		}
	case "Job":
		old = 0
		wants = min(numberIn(spec, "parallelism"), numberIn(spec, "completions"))
		if spec["suspend"] == true {
			wants = 0
		}
	case "ReplicaSet":
		old = 0
	}
	return hash, wants, old
}

// fill creates one more replica than are predicted to fit, of pods that preempt none.
func (h *hunter) fill(t scenarios.T, q *question, predicted []string) []string {
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "preempts-no-pods"}, Value: -scheduling.HighestUserDefinablePriority, PreemptionPolicy: ptr.To(v1.PreemptNever)}
	_, err := h.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
	testkit.Must(t, err)
	name, n, _ := strings.Cut(predicted[0], ": ")
	most, err := strconv.Atoi(n)
	testkit.Must(t, err)
	var o object
	testkit.Must(t, json.Unmarshal(q.Manifests[0], &o))
	spec := at(o, "spec")
	at(spec, "template", "spec")["priorityClassName"] = class.Name
	delete(spec, "paused")
	if o["kind"] == "Job" {
		maps.Copy(spec, object{"parallelism": most + 1, "completions": most + 1})
	} else {
		spec["replicas"] = most + 1
	}
	text, err := json.Marshal(o)
	testkit.Must(t, err)
	_ = h.apply(t.Context(), text)
	return h.until(t, func(now *snapshot.Snapshot) []string {
		run := 0
		for i := range now.Pods {
			if workloadOf(&now.Pods[i]) == name && now.Pods[i].Spec.NodeName != "" {
				run++
			}
		}
		return []string{fmt.Sprintf("%s: %d", name, run)}
	}, predicted)
}
