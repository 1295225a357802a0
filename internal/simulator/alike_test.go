package simulator

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// outcome is what a scheduler has made of a pod, as far as kubectl shows it.
type outcome struct{ node, nominated, message string }

// outcomeOf is blind to the one thing that must differ: the plugin's name.
func outcomeOf(t *testing.T, name string) outcome {
	t.Helper()
	pod, err := sim.Client().CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return outcome{pod.Spec.NodeName, pod.Status.NominatedNodeName, strings.ReplaceAll(message(pod), "WasmRegex", "Regex")}
}

// TestV2DecidesAsTheNativePluginDoes puts the same pods before both, through the
// whole framework.
func TestV2DecidesAsTheNativePluginDoes(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(*testing.T) // until there is something to see of pod p
		want outcome
	}{
		{"a pod whose few names no node bears", func(t *testing.T) {
			addRoom(t, "kubecon-1")
			addPodOf(t, "p", "^cncf-[12]$", "", "")
			attempt(t, "p", recorder.Unschedulable)
		}, outcome{message: `0/1 nodes are available: 1 node(s) didn't match the pod's node name regex "^cncf-[12]$". ` +
			`no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`}},
		{"a pod that can preempt no other", func(t *testing.T) {
			addRoom(t, "kubecon-1")
			addPodOf(t, "first", "kubecon-", "", "1")
			attempt(t, "first", recorder.Scheduled)
			addPodOf(t, "p", "kubecon-", "", "1")
			attempt(t, "p", recorder.Unschedulable)
		}, outcome{message: `0/1 nodes are available: 1 Insufficient cpu. ` +
			`no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.`}},
		{"a pod whose volume is not there, after one with a regex", func(t *testing.T) {
			addRoom(t, "kubecon-1")
			addPodOf(t, "other", "^secret-[12]$", "", "")
			attempt(t, "other", recorder.Unschedulable)
			addPodOf(t, "p", "^public-[12]$", "", "", "missing")
			attempt(t, "p", recorder.Unschedulable)
		}, outcome{message: `0/1 nodes are available: persistentvolumeclaim "missing" not found. not found`}}, // DynamicResources' PostFilter without its PreFilter
		{"a nomination to a node that was cordoned since", func(t *testing.T) {
			addRoom(t, "kubecon-1", "kubecon-2")
			cordon(t, "kubecon-1")
			addPodOf(t, "first", "kubecon-2", "alike-high", "1")
			attempt(t, "first", recorder.Scheduled)
			addPodOf(t, "p", "kubecon-", "alike-high", "1")
			attempt(t, "p", recorder.Unschedulable)
			p, err := sim.Client().CoreV1().Pods("default").Patch(t.Context(), "p", types.MergePatchType,
				[]byte(`{"status":{"nominatedNodeName":"kubecon-1"}}`), metav1.PatchOptions{}, "status")
			if err != nil || p.Status.NominatedNodeName != "kubecon-1" {
				t.Fatalf("nominated to %q: %v", p.Status.NominatedNodeName, err)
			}
			if err := sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()); err != nil { // which tries it again
				t.Fatal(err)
			}
		}, outcome{message: `0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: ` +
			`1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, variant := range []string{"native", "v2"} {
				t.Run(variant, func(t *testing.T) {
					use(t, variant)
					addClass(t, "alike-high")
					tt.play(t)
					await(t, tt.want)
				})
			}
		})
	}
}

func await(t *testing.T, want outcome) {
	t.Helper()
	var got outcome
	defer func() {
		if t.Failed() {
			t.Logf("got  %+v\nwant %+v", got, want)
		}
	}()
	eventually(t, "pod p is as it should be", func() bool {
		got = outcomeOf(t, "p")
		return got == want
	})
}

// addRoom makes nodes with room for a pod of one CPU.
func addRoom(t *testing.T, names ...string) {
	t.Helper()
	room := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("1Gi"), v1.ResourcePods: resource.MustParse("10")}
	addNodes(t, names...)
	for _, name := range names {
		node, err := sim.Client().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		node.Status.Capacity, node.Status.Allocatable = room, room
		if _, err := sim.Client().CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sim.ApplySchedulerConfig(t.Context(), sim.SchedulerConfig()); err != nil { // as addNodes
		t.Fatal(err)
	}
}

func addClass(t *testing.T, name string) {
	t.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: 1000}
	if _, err := sim.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// cordon makes a node unschedulable, and waits until the scheduler has heard of it:
// nodes and pods come by watches of their own.
func cordon(t *testing.T, node string) {
	t.Helper()
	_, err := sim.Client().CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType,
		[]byte(`{"spec":{"unschedulable":true}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		probe, result := fmt.Sprint("probe-", i), recorder.Pending
		addPodOf(t, probe, "^"+node+"$", "", "")
		eventually(t, probe+" is tried", func() bool {
			for _, a := range sim.Recorder().Attempts("default", probe) {
				result = a.Result
			}
			return result != recorder.Pending
		})
		if result == recorder.Unschedulable {
			return
		}
	}
}

func addPodOf(t *testing.T, name, pattern, class, cpu string, claims ...string) {
	t.Helper()
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{regex.Annotation: pattern}},
		Spec:       v1.PodSpec{PriorityClassName: class, Containers: []v1.Container{{Name: "web", Image: "web"}}},
	}
	if cpu != "" {
		pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}
	}
	for _, claim := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, v1.Volume{Name: claim, VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	eventually(t, "the pod is admitted", func() bool { // as soon as its class is known
		_, err := sim.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil && !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// message is the message of the condition PodScheduled.
func message(p *v1.Pod) string {
	_, condition := podutil.GetPodCondition(&p.Status, v1.PodScheduled)
	return ptr.Deref(condition, v1.PodCondition{}).Message
}
