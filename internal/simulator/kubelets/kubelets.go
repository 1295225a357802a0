// Package kubelets does what the kubelets of a cluster's nodes would, as far as
// the API shows it, so that nodes that exist only in the API become Ready with
// capacity, and pods that the scheduler bound to them become Running with an
// address, finish when a Job owns them or they say when, and go when they are deleted.
//
// It looks at what is there, not at what has happened to it: each look at a node
// or a pod does what is missing, and an object that failed is looked at again. Writes
// carry the resource version that was looked at, so they meet no other object and
// undo no one else's change.
//
// What it is not: it runs no container and no endpoint (no logs, no exec), places
// no pod, and deletes only pods that are already marked as deleted.
package kubelets

import (
	"context"
	"fmt"
	"io"
	"log"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

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
// and until ctx is done. The pods of a node whose Ready condition is Unknown stay as they are: its kubelet is silent. The informers of nodes and pods in shared must have synced:
// theirs are the addresses that are taken. client must be allowed to update the status
// of nodes and pods, to delete pods, and to write leases. What fails is tried again,
// and written to logs, one Write each. After the end of ctx, wait until the last
// request has ended with the result.
func Start(ctx context.Context, client kubernetes.Interface, shared informers.SharedInformerFactory, logs io.Writer) (wait func(), err error) {
	warnings := log.New(logs, "", 0)
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
