// Package kubelets does what the kubelets of a cluster's nodes would, as far as
// the API shows it: nodes that exist only in the API become Ready with
// capacity, and pods that are bound to them become Running with an
// address, finish when a Job owns them or they say when, and go when they are deleted.
//
// It runs no container and no endpoint (no logs, no exec), places
// no pod, and deletes only pods that are already marked as deleted.
package kubelets

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	storage "k8s.io/client-go/applyconfigurations/storage/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/reconcile"
)

type kubelets struct {
	client    kubernetes.Interface
	nodes     corelisters.NodeLister
	pods      corelisters.PodLister
	addresses *addresses
	later     func(pod any, wait time.Duration) // looks at a pod after a while
}

// Start makes every node of the cluster Ready that does not say that it is not, and every bound pod Running, now
// and until ctx is done. The pods of a node whose Ready condition is Unknown stay as they are: its kubelet is silent.
// The informers of nodes and pods in shared must have synced: theirs are the addresses that are taken. What fails is
// tried again, and written to warnings. wait returns when the last request has ended.
func Start(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, warnings *log.Logger) (wait func(), err error) {
	nodes, pods := shared.Core().V1().Nodes(), shared.Core().V1().Pods()
	index := pods.Informer().GetIndexer()
	if err := index.AddIndexers(podIndexers); err != nil {
		return nil, fmt.Errorf("index pods: %w", err)
	}
	k := &kubelets{client: client, nodes: nodes.Lister(), pods: pods.Lister(), addresses: newAddresses(index)}
	nodeQueue, podQueue := reconcile.NewQueue("node", k.reportNode, warnings), reconcile.NewQueue("pod", k.reportPod, warnings)
	k.later = podQueue.AddAfter
	if err := reconcile.Watch(pods.Informer(), podQueue.Add); err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	err = reconcile.Watch(nodes.Informer(), func(node any) {
		nodeQueue.Add(node)
		pods, _ := index.ByIndex(byNode, node.(*v1.Node).Name) // they may have been there before it
		for _, pod := range pods {
			podQueue.Add(pod)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("watch nodes: %w", err)
	}
	return reconcile.Run(ctx, nodeQueue, podQueue), nil
}

// leaseSeconds is what the lease of a node says, a day: see lease.
const leaseSeconds = 24 * 60 * 60

// reportNode completes the status of a node, if there is such a node: that it is
// Ready, unless it says that it is not, and what room it has. The lease and the CSINode come first: a node whose status is
// complete is not looked at again.
func (k *kubelets) reportNode(ctx context.Context, name cache.ObjectName) error {
	node, err := k.nodes.Get(name.Name)
	if err != nil || isComplete(node) {
		return nil // or it is gone
	}
	if err := k.lease(ctx, node); err != nil {
		return err
	}
	if err := k.csiNode(ctx, node); err != nil {
		return err
	}
	node = node.DeepCopy()
	complete(node)
	_, err = k.client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
	return err
}

// lease makes the lease that "kubectl describe node" looks for, or takes over
// that of a predecessor. It is not renewed: nothing here acts on one that ran out.
func (k *kubelets) lease(ctx context.Context, node *v1.Node) error {
	lease := coordination.Lease(node.Name, v1.NamespaceNodeLease).
		WithOwnerReferences(owner(node)).
		WithSpec(coordination.LeaseSpec().WithHolderIdentity(node.Name).WithLeaseDurationSeconds(leaseSeconds).WithRenewTime(metav1.NowMicro()))
	_, err := k.client.CoordinationV1().Leases(v1.NamespaceNodeLease).Apply(ctx, lease, metav1.ApplyOptions{FieldManager: "kubelets", Force: true})
	return err
}

// csiNode makes the CSINode that every kubelet makes, also without drivers: by it, what-ifs know a list of all kinds. Drivers that one has
// stay.
func (k *kubelets) csiNode(ctx context.Context, node *v1.Node) error {
	csiNode := storage.CSINode(node.Name).WithOwnerReferences(owner(node)).WithSpec(storage.CSINodeSpec())
	_, err := k.client.StorageV1().CSINodes().Apply(ctx, csiNode, metav1.ApplyOptions{FieldManager: "kubelets", Force: true})
	return err
}

// owner is with what an object goes.
func owner(node *v1.Node) *metav1apply.OwnerReferenceApplyConfiguration {
	return metav1apply.OwnerReference().WithAPIVersion("v1").WithKind("Node").WithName(node.Name).WithUID(node.UID)
}

// room is what a node has that does not say how large it is: more than any pod
// asks for.
var room = v1.ResourceList{
	v1.ResourceCPU:    resource.MustParse("1k"),
	v1.ResourceMemory: resource.MustParse("1Ti"),
	v1.ResourcePods:   resource.MustParse("1M"),
}

// isComplete reports whether a node says how large it is and whether it is ready.
func isComplete(node *v1.Node) bool {
	return len(node.Status.Allocatable) > 0 && len(node.Status.Capacity) > 0 && readyStatus(node) != ""
}

// readyStatus is whether a node is ready, or empty if it does not say. A node that is not ready stays so.
func readyStatus(node *v1.Node) v1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == v1.NodeReady {
			return condition.Status
		}
	}
	return ""
}

// complete adds to a node's status what is missing in it. What is there stays.
func complete(node *v1.Node) {
	status := &node.Status
	switch {
	case len(status.Capacity) == 0 && len(status.Allocatable) == 0:
		status.Capacity, status.Allocatable = room, room
	case len(status.Capacity) == 0:
		status.Capacity = status.Allocatable
	case len(status.Allocatable) == 0:
		status.Allocatable = status.Capacity
	}
	for _, condition := range conditions(node.CreationTimestamp) {
		if !slices.ContainsFunc(status.Conditions, func(c v1.NodeCondition) bool { return c.Type == condition.Type }) {
			status.Conditions = append(status.Conditions, condition)
		}
	}
	if len(status.Addresses) == 0 {
		status.Addresses = []v1.NodeAddress{{Type: v1.NodeInternalIP, Address: NodeIP}, {Type: v1.NodeHostName, Address: node.Name}}
	}
	status.Phase = v1.NodeRunning
	describe(&status.NodeInfo)
}

func conditions(since metav1.Time) []v1.NodeCondition {
	now := metav1.Now()
	condition := func(kind v1.NodeConditionType, status v1.ConditionStatus, reason, message string) v1.NodeCondition {
		return v1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: now, LastTransitionTime: since,
		}
	}
	return []v1.NodeCondition{
		condition(v1.NodeReady, v1.ConditionTrue, "KubeletReady", "the node is simulated"),
		condition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory", "the node is simulated"),
		condition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure", "the node is simulated"),
		condition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID", "the node is simulated"),
		condition(v1.NodeNetworkUnavailable, v1.ConditionFalse, "RouteCreated", "the node is simulated"),
	}
}

// describe fills in what "kubectl get nodes -o wide" shows.
func describe(info *v1.NodeSystemInfo) {
	const version = "simulated"
	for field, value := range map[*string]string{
		&info.Architecture: runtime.GOARCH, &info.OperatingSystem: "linux",
		&info.ContainerRuntimeVersion: version, &info.KernelVersion: version, &info.KubeletVersion: version,
	} {
		if *field == "" {
			*field = value
		}
	}
}
