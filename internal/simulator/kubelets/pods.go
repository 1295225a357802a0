package kubelets

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	nodeutil "k8s.io/kubernetes/pkg/util/node"
	"k8s.io/utils/ptr"
)

// Addresses that nothing routes, outside the range of the control plane's services.
const (
	// PodCIDR is for the pods of nodes that have no range of their own.
	PodCIDR = "10.244.0.0/14"
	// NodeIP is the address of every node that names no other.
	NodeIP = "10.0.0.1"
)

var podCIDR = netip.MustParsePrefix(PodCIDR)

const (
	byNode    = "node"
	byAddress = "address"
)

var podIndexers = cache.Indexers{
	byNode: func(object any) ([]string, error) {
		return nonEmpty(object.(*v1.Pod).Spec.NodeName), nil
	},
	byAddress: func(object any) ([]string, error) {
		status := object.(*v1.Pod).Status
		all := nonEmpty(status.PodIP)
		for _, ip := range status.PodIPs {
			all = append(all, ip.IP)
		}
		return all, nil
	},
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// reportPod does what is to be done next for a pod, if it is bound to a node that
// exists. Those of a node that is gone have no kubelet.
func (k *kubelets) reportPod(ctx context.Context, name cache.ObjectName) error {
	pod, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil {
		return nil // it is gone
	}
	node, err := k.nodes.Get(pod.Spec.NodeName)
	if err != nil || readyStatus(node) == v1.ConditionUnknown {
		return nil // so is its node, or its kubelet
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return k.removePod(ctx, pod)
	case podutil.IsPodTerminal(pod):
		return nil
	case !isRunning(pod):
		return k.runPod(ctx, node, pod)
	}
	return k.endPod(ctx, pod)
}

func (k *kubelets) endPod(ctx context.Context, pod *v1.Pod) error {
	e, err := endingOf(pod)
	if err != nil || e == nil {
		return err
	}
	wait := e.wait(pod, time.Now())
	if wait > 0 {
		k.later(pod, wait)
		return nil
	}
	return k.updatePod(ctx, pod, func(pod *v1.Pod) { finish(pod, e.code) })
}

// removePod ends the wait for a kubelet that would stop the containers. Once that
// is over, a pod that is still there has ended, and waits for its finalizers to be removed.
func (k *kubelets) removePod(ctx context.Context, pod *v1.Pod) error {
	if len(pod.Finalizers) > 0 && !podutil.IsPodTerminal(pod) {
		const killed = 137
		return k.updatePod(ctx, pod, func(pod *v1.Pod) { finish(pod, killed) })
	}
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0 {
		return nil
	}
	return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		// A reset recreates pods with the UIDs that they had.
		Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion},
	})
}

func (k *kubelets) runPod(ctx context.Context, node *v1.Node, pod *v1.Pod) error {
	hostIP := NodeIP
	ips, err := nodeutil.GetNodeHostIPs(node)
	if err == nil { // else its status is not written yet
		hostIP = ips[0].String()
	}
	podIP := pod.Status.PodIP
	switch {
	case podIP != "":
	case pod.Spec.HostNetwork:
		podIP = hostIP
	default:
		cidr, err := netip.ParsePrefix(node.Spec.PodCIDR)
		if err != nil {
			cidr = podCIDR
		}
		if podIP, err = k.addresses.take(cidr, pod); err != nil {
			return err
		}
	}
	return k.updatePod(ctx, pod, func(pod *v1.Pod) { run(pod, hostIP, podIP) })
}

func (k *kubelets) updatePod(ctx context.Context, pod *v1.Pod, change func(*v1.Pod)) error {
	pod = pod.DeepCopy()
	change(pod)
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

const (
	// runsFor is the annotation of a pod that says how long it runs, as "90s" or
	// "5m". It is the one that KWOK's stage of completion reads.
	runsFor = "pod-complete.stage.kwok.x-k8s.io/delay"
	// exitCode is the annotation that says with what its containers exit then. Any
	// but 0 makes it fail.
	exitCode = "simulator.wasmkwokwizardry.io/exit-code"
)

type ending struct {
	after time.Duration // from its start
	code  int32
}

// endingOf is the end of pods that say when, and of jobs' pods, which would
// otherwise never be complete: they end at once. It is nil for all others.
func endingOf(pod *v1.Pod) (*ending, error) {
	text, says := pod.Annotations[runsFor]
	ofJob := slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == "Job" })
	if !says && !ofJob {
		return nil, nil
	}
	e := &ending{}
	var err error
	if says {
		e.after, err = time.ParseDuration(text)
		if err != nil || e.after < 0 {
			return nil, fmt.Errorf("annotation %s: %q is not a valid duration: write it as 90s or 5m", runsFor, text)
		}
	}
	if text, ok := pod.Annotations[exitCode]; ok {
		code, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %q is not a valid exit code: write a number from 0 to 255", exitCode, text)
		}
		e.code = int32(code)
	}
	return e, nil
}

func (e *ending) wait(pod *v1.Pod, now time.Time) time.Duration {
	if pod.Status.StartTime == nil {
		return 0
	}
	return pod.Status.StartTime.Add(e.after).Sub(now)
}
