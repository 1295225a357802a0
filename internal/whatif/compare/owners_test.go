package compare

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/side"
)

// ownedBy makes a pod one of a kind's, labelled app=web as all of these are.
func ownedBy(pod v1.Pod, apiVersion, kind string) v1.Pod {
	pod.Labels = map[string]string{"app": "web"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "web", UID: types.UID("the-" + kind), Controller: ptr.To(true)}}
	return pod
}

// withOwner adds an object called web, which would make three pods.
func withOwner(s *snapshot.Snapshot, kind string) {
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web", UID: types.UID("the-" + kind)}
	selector := metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: podOf("", "1").Spec}
	replicas := ptr.To[int32](3)
	switch kind {
	case "ReplicaSet":
		deployment := metav1.ObjectMeta{Namespace: "default", Name: "above", UID: "the-Deployment"}
		s.Deployments = []appsv1.Deployment{{ObjectMeta: deployment, Spec: appsv1.DeploymentSpec{Replicas: replicas, Selector: &selector, Template: template}}}
		meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "above", UID: "the-Deployment", Controller: ptr.To(true)}}
		s.ReplicaSets = []appsv1.ReplicaSet{{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: replicas, Selector: &selector, Template: template}}}
	case "StatefulSet":
		s.StatefulSets = []appsv1.StatefulSet{{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: replicas, Selector: &selector, Template: template}}}
	case "ReplicationController":
		s.ReplicationControllers = []v1.ReplicationController{{ObjectMeta: meta, Spec: v1.ReplicationControllerSpec{Replicas: replicas, Selector: selector.MatchLabels, Template: &template}}}
	}
}

// Without its owner's selector, a pod goes where there is the most room.
func TestPodsOfAnOwnerAreSpreadAsInTheCluster(t *testing.T) {
	const unspread = `
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List, defaultConstraints: []}
`
	for name, apiVersion := range map[string]string{
		"ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1", "ReplicaSet, in a scenario": "apps/v1",
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, later := strings.Cut(name, ",")
			s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("has-one", "a", "16"), nodeOf("is-busier", "b", "16")}}
			withOwner(s, kind)
			s.Pods = []v1.Pod{
				on(ownedBy(podOf("web-0", "500m"), apiVersion, kind), "has-one"),
				on(podOf("other", "1"), "is-busier"),
				ownedBy(podOf("web-1", "500m"), apiVersion, kind),
			}
			o := Options{A: variant(t, "none"), B: []Scheduler{{Name: "unspread", Config: []byte(unspread)}}, Cluster: s}
			if later {
				o.Scenario.Steps = []side.Step{{Create: []map[string]any{manifestOf(t, s.Pods[2])}}}
				s.Pods = s.Pods[:2]
			}
			r := run(t, o)
			if len(r.Differences) != 1 || r.Asked != 1 || r.Load.A.Requested.Pods != 3 {
				t.Fatalf("%d differ, %d were asked of, %d pods run", len(r.Differences), r.Asked, r.Load.A.Requested.Pods)
			}
			if d := r.Differences[0]; d.A.Node != "is-busier" || d.B.Node != "has-one" || d.Cause != Score || d.Plugin != "PodTopologySpread" {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestPodsOfJobsAndOfOwnersThatAreNotThereStay(t *testing.T) {
	s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("one", "a", "4")}}
	job := podOf("of-a-job", "1")
	job.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "the-job", Controller: ptr.To(true)}}
	job.Spec.RestartPolicy = v1.RestartPolicyNever
	s.Jobs = []batchv1.Job{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job", UID: "the-job"}, Spec: batchv1.JobSpec{Template: v1.PodTemplateSpec{Spec: job.Spec}}}}
	waits := job
	waits.Name = "of-a-job-too"
	s.Pods = []v1.Pod{on(job, "one"), waits, ownedBy(podOf("of-another", "1"), "example.com/v1", "Rollout")}
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s})
	if r.Counts.Same != 3 || r.Load.A.Requested.Pods != 3 || r.Load.B.Requested.Pods != 3 {
		t.Errorf("%+v, %d and %d pods run", r.Counts, r.Load.A.Requested.Pods, r.Load.B.Requested.Pods)
	}
}

// guarded are two nodes that are full, one of them of a pod whose budget spares it,
// whatever its status in the file says.
func guarded() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Nodes: []v1.Node{nodeOf("guarded", "a", "4"), nodeOf("open", "a", "4")}}
	s.PriorityClasses = []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000}}
	withOwner(s, "ReplicaSet")
	s.ReplicaSets[0].Spec.Replicas = ptr.To[int32](1)
	s.ReplicaSets[0].Spec.Template.Spec = podOf("web", "3").Spec
	s.PodDisruptionBudgets = []policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: ptr.To(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 5},
	}}
	other := podOf("other", "3")
	other.Spec.Priority = ptr.To[int32](0)
	s.Pods = []v1.Pod{on(ownedBy(podOf("web", "3"), "apps/v1", "ReplicaSet"), "guarded"), on(other, "open")}
	return s
}

func urgent(name string) v1.Pod {
	pod := podOf(name, "3")
	pod.Spec.PriorityClassName = "first"
	return pod
}

func TestPreemptionRespectsBudgetsOnBothSides(t *testing.T) {
	for name, mode := range map[string]string{"pods that run": side.Pending, "pods that are scheduled first": side.All} {
		t.Run(name, func(t *testing.T) {
			s := guarded()
			began := metav1.Now()
			for i := range s.Pods {
				s.Pods[i].CreationTimestamp = began
			}
			one := urgent("urgent")
			one.CreationTimestamp = metav1.NewTime(began.Add(60e9))
			s.Pods = append(s.Pods, one)
			scenario := side.Scenario{}
			if mode == side.All { // on which node it is, chance decides
				s.Pods = s.Pods[:2]
				scenario.Steps = []side.Step{{Create: []map[string]any{manifestOf(t, urgent("urgent"))}}}
			}
			r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s, Pods: mode, Scenario: scenario})
			if len(r.Differences) != 0 || len(r.Ties) != 0 {
				t.Fatalf("%+v, %+v", r.Differences, r.Ties)
			}
			gone := map[string]string{}
			for _, d := range r.Pending {
				gone[d.Name] = d.A.PreemptedBy
			}
			if fmt.Sprint(gone) != "map[other:default/urgent]" {
				t.Errorf("preempted are %v", gone)
			}
		})
	}
}

// What one pod leaves of a budget, the next has to respect.
func TestABudgetIsCountedBeforeTheNextPodPreempts(t *testing.T) {
	s := &snapshot.Snapshot{}
	s.PriorityClasses = []schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: "first"}, Value: 1000}}
	withOwner(s, "ReplicaSet")
	const nodes = 6
	s.ReplicaSets[0].Spec.Replicas = ptr.To[int32](nodes / 2)
	s.PodDisruptionBudgets = guarded().PodDisruptionBudgets
	s.PodDisruptionBudgets[0].Spec.MaxUnavailable = ptr.To(intstr.FromInt32(1))
	for i := range nodes {
		node := fmt.Sprint("node-", i)
		s.Nodes = append(s.Nodes, nodeOf(node, "a", "4"))
		if i%2 == 0 {
			s.Pods = append(s.Pods, on(ownedBy(podOf("web-"+node, "3"), "apps/v1", "ReplicaSet"), node))
		} else {
			s.Pods = append(s.Pods, on(podOf("other-"+node, "3"), node))
		}
	}
	for i := range nodes/2 + 1 {
		s.Pods = append(s.Pods, urgent(fmt.Sprint("urgent-", i)))
	}
	r := run(t, Options{A: variant(t, "none"), B: []Scheduler{variant(t, "none")}, Cluster: s})
	if len(r.Differences) != 0 {
		t.Fatalf("%+v", r.Differences)
	}
	web := 0
	for _, d := range append(r.Pending, r.Ties...) {
		if strings.HasPrefix(d.Name, "web") && d.A.PreemptedBy != "" {
			web++
		}
	}
	if web > 1 {
		t.Errorf("%d pods of the budget are gone, while others could have gone: %+v", web, r.Pending)
	}
}
