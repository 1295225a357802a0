package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// workloads have pods labelled app=<name>, of one container.
var workloads = []struct {
	name, path, spec string
	pods             int
	owner            string
	phase            v1.PodPhase
}{
	{"deployment", "apis/apps/v1/namespaces/default/deployments", "replicas: 2, selector: {matchLabels: APP}, template: POD", 2, "ReplicaSet", v1.PodRunning},
	{"replicaset", "apis/apps/v1/namespaces/default/replicasets", "replicas: 3, selector: {matchLabels: APP}, template: POD", 3, "ReplicaSet", v1.PodRunning},
	{"rc", "api/v1/namespaces/default/replicationcontrollers", "replicas: 2, selector: APP, template: POD", 2, "ReplicationController", v1.PodRunning},
	{"statefulset", "apis/apps/v1/namespaces/default/statefulsets", "replicas: 2, serviceName: none, selector: {matchLabels: APP}, template: POD", 2, "StatefulSet", v1.PodRunning},
	{"daemonset", "apis/apps/v1/namespaces/default/daemonsets", "selector: {matchLabels: APP}, template: POD", 2, "DaemonSet", v1.PodRunning},
	{"done", "apis/batch/v1/namespaces/default/jobs", "completions: 3, parallelism: 2, template: ONCE", 3, "Job", v1.PodSucceeded},
	{"busy", "apis/batch/v1/namespaces/default/jobs", "template: {metadata: {labels: APP, annotations: {pod-complete.stage.kwok.x-k8s.io/delay: 24h}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}", 1, "Job", v1.PodRunning},
	{"cronjob", "apis/batch/v1/namespaces/default/cronjobs", `schedule: "* * * * *", suspend: true, jobTemplate: {spec: {template: ONCE}}`, 0, "", ""},
}

// addWorkloads makes all of them.
func addWorkloads(t *testing.T) {
	t.Helper()
	for _, w := range workloads {
		spec := strings.NewReplacer("POD", "{metadata: {labels: APP}, spec: {containers: [{name: web, image: web}]}}",
			"ONCE", "{metadata: {labels: APP}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}").Replace(w.spec)
		create(t, sim, "/"+w.path, "metadata: {name: "+w.name+"}\nspec: {"+strings.ReplaceAll(spec, "APP", "{app: "+w.name+"}")+"}")
	}
}

// podsOf are the pods labelled app=<name>.
func podsOf(t *testing.T, name string) []*v1.Pod {
	t.Helper()
	pods, err := sim.Informers().Core().V1().Pods().Lister().List(labels.SelectorFromSet(labels.Set{"app": name}))
	testkit.Must(t, err)
	return pods
}

// settled waits until every workload has its pods, and returns where they are.
func settled(t *testing.T) (all []string) {
	t.Helper()
	for _, w := range workloads {
		eventually(t, fmt.Sprintf("%d pods of %s are %s", w.pods, w.name, w.phase), func() bool {
			pods := podsOf(t, w.name)
			return len(pods) == w.pods && !slices.ContainsFunc(pods, func(pod *v1.Pod) bool { return pod.Status.Phase != w.phase })
		})
		for _, pod := range podsOf(t, w.name) {
			owner := metav1.GetControllerOf(pod)
			if owner == nil || owner.Kind != w.owner {
				t.Errorf("pod %s is of %v", pod.Name, owner)
			}
			all = append(all, pod.Name+" on "+pod.Spec.NodeName)
		}
	}
	jobs, sets := sim.Informers().Batch().V1().Jobs().Lister().Jobs("default"), sim.Informers().Apps().V1().ReplicaSets().Lister().ReplicaSets("default")
	eventually(t, "the job is complete, and the controllers have seen all", func() bool {
		job, err := jobs.Get("done")
		all, _ := sets.List(labels.Everything()) // a cache's lister has no errors
		return err == nil && job.Status.Succeeded == 3 && job.Status.CompletionTime != nil && len(all) == 2 && !slices.ContainsFunc(all, func(set *appsv1.ReplicaSet) bool {
			return set.Status.ReadyReplicas != *set.Spec.Replicas || metav1.GetControllerOf(set) == nil && set.Name != "replicaset"
		})
	})
	slices.Sort(all)
	return all
}

// The pods that an export has are the pods that the workloads have after an import, and none is made beside them.
func TestWorkloadsMakePodsAndAreThereOnceAfterAnImport(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1", "kubecon-2")
	addWorkloads(t)
	before, file := settled(t), exported(t)
	for _, round := range []string{"after a reset", "over what is there"} {
		if round == "after a reset" {
			reset(t)()
		}
		testkit.Must(t, sim.Import(t.Context(), read(t, file), nil))
		after := settled(t)
		testkit.Equal(t, strings.Join(after, "\n"), strings.Join(before, "\n"), "what is there %s", round)
	}

	crons := sim.Client().BatchV1().CronJobs("default")
	cron, err := crons.Get(t.Context(), "cronjob", metav1.GetOptions{})
	testkit.Must(t, err)
	cron.Status.LastScheduleTime = &metav1.Time{Time: time.Now().Add(-2 * time.Minute)} // so that the test does not wait a minute
	cron, err = crons.UpdateStatus(t.Context(), cron, metav1.UpdateOptions{})
	testkit.Must(t, err)
	cron.Spec.Suspend = new(bool)
	_, err = crons.Update(t.Context(), cron, metav1.UpdateOptions{})
	testkit.Must(t, err)
	eventually(t, "a pod of the cron job succeeds", func() bool {
		return slices.ContainsFunc(podsOf(t, "cronjob"), func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodSucceeded })
	})
}

// A reset leaves nothing that a controller recreates, whatever finalizers are on it.
func TestResetDeletesWorkloadsWhileTheyMakePods(t *testing.T) {
	use(t, "native")
	for range 2 {
		addNodes(t, "kubecon-1", "kubecon-2")
		addWorkloads(t)
		eventually(t, "a job has a pod", func() bool { return len(podsOf(t, "busy")) == 1 })
		reset(t)()
		left := names(t)
		if len(left) > 0 {
			t.Errorf("after a reset there are %v", left)
		}
	}
}
