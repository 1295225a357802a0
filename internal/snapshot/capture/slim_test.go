package capture

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestSnapshotKeepsWhatDecidesWhereAPodMayRun(t *testing.T) {
	rules := []v1.ContainerRestartRule{
		{Action: v1.ContainerRestartRuleActionRestart},
		{Action: v1.ContainerRestartRuleActionRestartAllContainers}, // asks for a node that declares the feature
	}
	now := metav1.Now()
	s := &snapshot.Snapshot{Pods: []v1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "goes", DeletionTimestamp: &now, Finalizers: []string{"example.com/deregister", batchv1.JobTrackingFinalizer}},
		Spec: v1.PodSpec{
			InitContainers: []v1.Container{{Name: "i", RestartPolicyRules: slices.Clone(rules)}},
			Containers:     []v1.Container{{Name: "c", RestartPolicyRules: rules[:1]}},
		},
		Status: v1.PodStatus{AllocatedResources: cpu("3"), Resources: &v1.ResourceRequirements{Requests: cpu("2")}},
	}}}
	slim(s, nil)
	pod := s.Pods[0]
	init := pod.Spec.InitContainers[0].RestartPolicyRules
	if len(init) != 1 || init[0].Action != rules[1].Action || len(pod.Spec.Containers[0].RestartPolicyRules) > 0 {
		t.Errorf("the rules are %+v", pod.Spec)
	}
	if pod.Status.AllocatedResources.Cpu().Value() != 3 || pod.Status.Resources.Requests.Cpu().Value() != 2 {
		t.Errorf("of a resize of the whole pod it keeps %+v", pod.Status)
	}
	if !slices.Equal(pod.Finalizers, []string{"example.com/deregister"}) {
		t.Errorf("of its finalizers it keeps %q", pod.Finalizers)
	}
	if pod.DeletionTimestamp == nil { // or a comparison would count it
		t.Error("nothing says that it is being deleted")
	}
}

// TestSnapshotKeepsControllersThatItDoesNotHave: a pod of a Job is evicted as one that is recreated, and a static pod is
// not evicted.
func TestSnapshotKeepsControllersThatItDoesNotHave(t *testing.T) {
	owned := func(name, kind string, controller bool) v1.Pod {
		by := metav1.OwnerReference{Kind: kind, Name: "o", UID: "o", Controller: &controller}
		return v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{by}}}
	}
	s := &snapshot.Snapshot{Pods: []v1.Pod{owned("of-a-job", "Job", true), owned("of-a-resource", "Widget", true), owned("mirror", "Node", true), owned("of-no-controller", "Widget", false)}}
	s.Pods[2].Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x", "other": "y"}
	slim(s, nil)
	withoutIdleOwners(s)
	for i, want := range []int{1, 1, 1, 0} {
		if len(s.Pods[i].OwnerReferences) != want {
			t.Errorf("pod %s has the owners %v", s.Pods[i].Name, s.Pods[i].OwnerReferences)
		}
	}
	if s.Pods[2].Annotations[v1.MirrorPodAnnotationKey] != "x" || len(s.Pods[2].Annotations) != 1 {
		t.Errorf("the static pod has the annotations %v", s.Pods[2].Annotations)
	}
}

func TestFieldsThatAreKeptExist(t *testing.T) {
	for _, kind := range snapshot.Kinds {
		object, err := scheme.Scheme.New(kind.Resource.GroupVersion().WithKind(kind.Kind))
		testkit.Must(t, err)
		exist(t, kind.Kind, reflect.TypeOf(object), parse(keptOfAll+kept[kind.Kind]))
	}
	exist(t, "template", reflect.TypeFor[v1.PodTemplateSpec](), keptOfTemplate)
	exist(t, "claim template", reflect.TypeFor[v1.PersistentVolumeClaim](), keptOfClaimTemplate)
}

func cpu(much string) v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: resource.MustParse(much)}
}

func exist(t *testing.T, path string, in reflect.Type, all fields) {
	t.Helper()
	for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
		in = in.Elem()
	}
	for name, below := range all {
		at := slices.IndexFunc(reflect.VisibleFields(in), func(f reflect.StructField) bool {
			of, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return of == name
		})
		if at < 0 {
			t.Errorf("%s has no field %s", path, name)
			continue
		}
		if len(below) > 0 {
			exist(t, path+"."+name, reflect.VisibleFields(in)[at].Type, below)
		}
	}
}
