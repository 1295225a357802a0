package kubelets

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodSaysWhenAndHowItEnds(t *testing.T) {
	started := time.Now()
	ofJob := []metav1.OwnerReference{{Kind: "Job"}}
	for _, test := range []struct {
		name        string
		owners      []metav1.OwnerReference
		annotations map[string]string
		ends        bool
		after       time.Duration
		code        int32
		wrong       string
	}{
		{name: "one that says nothing goes on"},
		{name: "one of a job ends at once", owners: ofJob, ends: true},
		{name: "one of a job that says when", owners: ofJob, annotations: map[string]string{runsFor: "90s"}, ends: true, after: 90 * time.Second},
		{name: "one without an owner that says when", annotations: map[string]string{runsFor: "5m"}, ends: true, after: 5 * time.Minute},
		{name: "one that fails", owners: ofJob, annotations: map[string]string{exitCode: "3"}, ends: true, code: 3},
		{name: "an exit code alone ends nothing", annotations: map[string]string{exitCode: "3"}},
		{name: "no time", annotations: map[string]string{runsFor: "soon"}, wrong: `"soon" is not a valid duration`},
		{name: "a time before the start", annotations: map[string]string{runsFor: "-1s"}, wrong: `"-1s" is not a valid duration`},
		{name: "no exit code", owners: ofJob, annotations: map[string]string{exitCode: "256"}, wrong: `"256" is not a valid exit code`},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners, Annotations: test.annotations}}
			pod.Status.StartTime = &metav1.Time{Time: started}
			e, err := endingOf(pod)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("got %v, want %s", err, test.wrong)
				}
				return
			}
			if err != nil || (e != nil) != test.ends {
				t.Fatalf("got %v, %v", e, err)
			}
			if e != nil && (e.code != test.code || e.wait(pod, started.Add(time.Second)) != test.after-time.Second) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestPodThatSaysSoFailsInItsTime(t *testing.T) {
	newNode(t, "kubecon-7")
	readyNode(t, "kubecon-7")
	createPod(t, "kubecon-7", "fails", func(pod *v1.Pod) {
		pod.Annotations = map[string]string{runsFor: "1s", exitCode: "7"}
	})
	t.Cleanup(func() { removePod(t, "fails") })
	failed := podIn(t, v1.PodFailed, "fails")
	ended := failed.Status.ContainerStatuses[0].State.Terminated
	if ended == nil || ended.ExitCode != 7 || ended.FinishedAt.Sub(failed.Status.StartTime.Time) < time.Second {
		t.Errorf("started %v, ended %+v", failed.Status.StartTime, ended)
	}
}
