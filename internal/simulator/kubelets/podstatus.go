package kubelets

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

// isRunning ignores conditions: a person may remove them from a running pod, to see
// what follows.
func isRunning(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodRunning && pod.Status.PodIP != ""
}

func run(pod *v1.Pod, hostIP, podIP string) {
	now := metav1.Now()
	status := &pod.Status
	status.Phase, status.Reason, status.Message = v1.PodRunning, "", ""
	status.StartTime = ptr.To(ptr.Deref(status.StartTime, now))
	status.HostIP, status.HostIPs = hostIP, []v1.HostIP{{IP: hostIP}}
	if status.PodIP != podIP {
		status.PodIP, status.PodIPs = podIP, []v1.PodIP{{IP: podIP}}
	}
	status.InitContainerStatuses = containers(pod.Spec.InitContainers, func(c *v1.Container, s *v1.ContainerStatus) {
		if podutil.IsRestartableInitContainer(c) { // a sidecar
			start(s, now)
		} else {
			end(s, now, now, 0)
			s.Ready = true // which of these means that it succeeded
		}
	})
	status.ContainerStatuses = containers(pod.Spec.Containers, func(_ *v1.Container, s *v1.ContainerStatus) { start(s, now) })
	for _, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.ContainersReady, v1.PodReady} {
		setCondition(status, kind, v1.ConditionTrue, "")
	}
	for _, gate := range pod.Spec.ReadinessGates {
		setCondition(status, gate.ConditionType, v1.ConditionTrue, "")
	}
}

// finish makes the status of a pod that runs that of one whose containers have all
// exited with a code.
func finish(pod *v1.Pod, code int32) {
	phase, reason := v1.PodSucceeded, "PodCompleted"
	if code != 0 {
		phase, reason = v1.PodFailed, "PodFailed"
	}
	now := metav1.Now()
	status := &pod.Status
	started := ptr.Deref(status.StartTime, now)
	status.Phase = phase
	status.InitContainerStatuses = containers(pod.Spec.InitContainers, func(_ *v1.Container, s *v1.ContainerStatus) {
		end(s, started, now, 0)
		s.Ready = true
	})
	status.ContainerStatuses = containers(pod.Spec.Containers, func(_ *v1.Container, s *v1.ContainerStatus) { end(s, started, now, code) })
	setCondition(status, v1.PodInitialized, v1.ConditionTrue, reason)
	setCondition(status, v1.ContainersReady, v1.ConditionFalse, reason)
	setCondition(status, v1.PodReady, v1.ConditionFalse, reason)
}

func containers(of []v1.Container, fill func(*v1.Container, *v1.ContainerStatus)) []v1.ContainerStatus {
	statuses := make([]v1.ContainerStatus, len(of))
	for i := range of {
		statuses[i] = v1.ContainerStatus{Name: of[i].Name, Image: of[i].Image}
		fill(&of[i], &statuses[i])
	}
	return statuses
}

func start(status *v1.ContainerStatus, at metav1.Time) {
	status.Ready, status.Started = true, ptr.To(true)
	status.State.Running = &v1.ContainerStateRunning{StartedAt: at}
}

func end(status *v1.ContainerStatus, started, finished metav1.Time, code int32) {
	status.Ready, status.Started = false, ptr.To(false)
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	status.State.Terminated = &v1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: started, FinishedAt: finished}
}

func setCondition(status *v1.PodStatus, kind v1.PodConditionType, is v1.ConditionStatus, reason string) {
	podutil.UpdatePodCondition(status, &v1.PodCondition{Type: kind, Status: is, Reason: reason})
}
