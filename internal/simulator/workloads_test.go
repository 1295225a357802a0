package simulator

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// create makes an object of a manifest at a path of the API.
func create(t *testing.T, path, manifest string) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	post := sim.Client().Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json")
	if err := post.Body(raw).Do(t.Context()).Error(); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
}

// workloads have pods labelled app=<kind>, of one container.
var workloads = map[string]struct {
	path, manifest string
	pods           int
	owner          string
}{
	"deployment": {"/apis/apps/v1/namespaces/default/deployments", `
metadata: {name: deployment}
spec: {replicas: 2, selector: {matchLabels: {app: deployment}}, template: POD}`, 2, "ReplicaSet"},
	"replicaset": {"/apis/apps/v1/namespaces/default/replicasets", `
metadata: {name: replicaset}
spec: {replicas: 3, selector: {matchLabels: {app: replicaset}}, template: POD}`, 3, "ReplicaSet"},
	"replicationcontroller": {"/api/v1/namespaces/default/replicationcontrollers", `
metadata: {name: replicationcontroller}
spec: {replicas: 2, selector: {app: replicationcontroller}, template: POD}`, 2, "ReplicationController"},
	"statefulset": {"/apis/apps/v1/namespaces/default/statefulsets", `
metadata: {name: statefulset}
spec: {replicas: 2, serviceName: none, selector: {matchLabels: {app: statefulset}}, template: POD}`, 2, "StatefulSet"},
	"daemonset": {"/apis/apps/v1/namespaces/default/daemonsets", `
metadata: {name: daemonset}
spec: {selector: {matchLabels: {app: daemonset}}, template: POD}`, 2, "DaemonSet"},
}

// addWorkload makes one of workloads.
func addWorkload(t *testing.T, kind string) {
	t.Helper()
	w := workloads[kind]
	pod := `{metadata: {labels: {app: ` + kind + `}}, spec: {containers: [{name: web, image: web}]}}`
	create(t, w.path, strings.ReplaceAll(w.manifest, "POD", pod))
}

// podsOf are the pods labelled app=<kind>.
func podsOf(t *testing.T, kind string) []*v1.Pod {
	t.Helper()
	pods, err := sim.Informers().Core().V1().Pods().Lister().List(labels.SelectorFromSet(labels.Set{"app": kind}))
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

// inPhase waits until there are so many pods of a workload, all in a phase.
func inPhase(t *testing.T, kind string, want int, phase v1.PodPhase) []*v1.Pod {
	t.Helper()
	eventually(t, fmt.Sprintf("%d pods of %s are %s", want, kind, phase), func() bool {
		pods := podsOf(t, kind)
		return len(pods) == want && !slices.ContainsFunc(pods, func(pod *v1.Pod) bool { return pod.Status.Phase != phase })
	})
	return podsOf(t, kind)
}

func TestPodsOfEveryKindOfWorkloadRun(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1", "kubecon-2")
	for kind, w := range workloads {
		t.Run(kind, func(t *testing.T) {
			addWorkload(t, kind)
			on := map[string]bool{}
			for _, pod := range inPhase(t, kind, w.pods, v1.PodRunning) {
				owner := metav1.GetControllerOf(pod)
				if owner == nil || owner.Kind != w.owner {
					t.Errorf("pod %s is of %v", pod.Name, owner)
				}
				on[pod.Spec.NodeName] = true
			}
			if kind == "daemonset" && len(on) != 2 {
				t.Errorf("its pods are on %v", on)
			}
			remove := sim.Client().Discovery().RESTClient().Delete().AbsPath(w.path+"/"+kind).Param("propagationPolicy", "Background")
			if err := remove.Do(t.Context()).Error(); err != nil { // a replication controller's pods would stay by default
				t.Fatal(err)
			}
			inPhase(t, kind, 0, "")
		})
	}
}

func TestJobEndsAndGoesWhenItsTimeIsOver(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1")
	create(t, "/apis/batch/v1/namespaces/default/jobs", `
metadata: {name: job}
spec:
  completions: 3
  parallelism: 2
  template: {metadata: {labels: {app: job}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}`)
	inPhase(t, "job", 3, v1.PodSucceeded)
	jobs := sim.Client().BatchV1().Jobs("default")
	var job *batchv1.Job
	eventually(t, "the job is complete", func() bool {
		var err error
		if job, err = jobs.Get(t.Context(), "job", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return job.Status.Succeeded == 3 && job.Status.CompletionTime != nil
	})
	job.Spec.TTLSecondsAfterFinished = new(int32)
	if _, err := jobs.Update(t.Context(), job, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	inPhase(t, "job", 0, "")
}

func TestCronJobMakesAJobWhenItIsTime(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1")
	create(t, "/apis/batch/v1/namespaces/default/cronjobs", `
metadata: {name: cronjob}
spec:
  schedule: "* * * * *"
  suspend: true
  jobTemplate: {spec: {template: {metadata: {labels: {app: cronjob}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}}`)
	crons := sim.Client().BatchV1().CronJobs("default")
	cron, err := crons.Get(t.Context(), "cronjob", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cron.Status.LastScheduleTime = &metav1.Time{Time: time.Now().Add(-2 * time.Minute)} // so that the test does not wait a minute
	if cron, err = crons.UpdateStatus(t.Context(), cron, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	cron.Spec.Suspend = new(bool)
	if _, err := crons.Update(t.Context(), cron, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a pod of the cron job succeeds", func() bool {
		return slices.ContainsFunc(podsOf(t, "cronjob"), func(pod *v1.Pod) bool { return pod.Status.Phase == v1.PodSucceeded })
	})
}

// TestResetDeletesWorkloadsWhileTheyMakePods and leaves nothing that a controller
// recreates, whatever finalizers are on it.
func TestResetDeletesWorkloadsWhileTheyMakePods(t *testing.T) {
	use(t, "native")
	for range 3 {
		addNodes(t, "kubecon-1", "kubecon-2")
		for kind := range workloads {
			addWorkload(t, kind)
		}
		create(t, "/apis/batch/v1/namespaces/default/jobs", `
metadata: {name: waits}
spec: {template: {metadata: {labels: {app: waits}}, spec: {restartPolicy: Never, nodeSelector: {no: where}, containers: [{name: web, image: web}]}}}`)
		eventually(t, "the job has a pod", func() bool { return len(podsOf(t, "waits")) == 1 })
		if err := sim.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		sets, err := sim.Client().AppsV1().ReplicaSets("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(sets.Items) > 0 {
			t.Errorf("after a reset there are %d replica sets, %v", len(sets.Items), err)
		}
		pods, err := sim.Client().CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) > 0 {
			t.Errorf("after a reset there are %d pods, %v", len(pods.Items), err)
		}
	}
}

// TestWorkloadsThatAreExportedAreThereOnceAfterAnImport: the pods that the file
// has are the pods that the workloads have, and none is made beside them.
func TestWorkloadsThatAreExportedAreThereOnceAfterAnImport(t *testing.T) {
	use(t, "native")
	addNodes(t, "kubecon-1", "kubecon-2")
	for kind := range workloads {
		addWorkload(t, kind)
	}
	for name, manifest := range map[string]string{
		"done": `spec: {completions: 2, template: {metadata: {labels: {app: done}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}`,
		"busy": `spec: {template: {metadata: {labels: {app: busy}, annotations: {pod-complete.stage.kwok.x-k8s.io/delay: 24h}}, spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}`,
	} {
		create(t, "/apis/batch/v1/namespaces/default/jobs", "metadata: {name: "+name+"}\n"+manifest)
	}
	create(t, "/apis/batch/v1/namespaces/default/cronjobs", `
metadata: {name: never}
spec: {schedule: "0 0 30 2 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}}}}`)
	settled := func() []string {
		for kind, w := range workloads {
			inPhase(t, kind, w.pods, v1.PodRunning)
		}
		inPhase(t, "busy", 1, v1.PodRunning)
		inPhase(t, "done", 2, v1.PodSucceeded)
		jobs := sim.Informers().Batch().V1().Jobs().Lister().Jobs("default")
		eventually(t, "the job is complete", func() bool {
			job, err := jobs.Get("done")
			return err == nil && job.Status.Succeeded == 2 && job.Status.CompletionTime != nil
		})
		var all []string
		for _, pod := range podsOfAll(t) {
			all = append(all, pod.Name+" on "+pod.Spec.NodeName)
		}
		slices.Sort(all)
		return all
	}
	before, file := settled(), exported(t)
	for _, round := range []string{"after a reset", "over what is there"} {
		if round == "after a reset" {
			if err := sim.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		in, _, err := snapshot.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Import(t.Context(), in, nil); err != nil {
			t.Fatal(err)
		}
		sets := sim.Informers().Apps().V1().ReplicaSets().Lister().ReplicaSets("default")
		eventually(t, "the controllers have seen all", func() bool {
			all, err := sets.List(labels.Everything())
			return err == nil && len(all) == 2 && !slices.ContainsFunc(all, func(set *appsv1.ReplicaSet) bool {
				return set.Status.ReadyReplicas != *set.Spec.Replicas || metav1.GetControllerOf(set) == nil && set.Name != "replicaset"
			})
		})
		after := settled()
		if !slices.Equal(before, after) {
			t.Errorf("%s there is\n%s\nwant\n%s", round, strings.Join(after, "\n"), strings.Join(before, "\n"))
		}
		if _, err := sim.Client().BatchV1().CronJobs("default").Get(t.Context(), "never", metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", round, err)
		}
	}
}

func podsOfAll(t *testing.T) []*v1.Pod {
	t.Helper()
	pods, err := sim.Informers().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	return pods
}
