package kubelets

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/connrotation"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
)

// kubelets are those of all nodes of a cluster.
type kubelets struct {
	client    kubernetes.Interface
	nodes     corelisters.NodeLister
	pods      corelisters.PodLister
	podIndex  cache.Indexer // of the same pods
	addresses *addresses
	later     func(pod any, wait time.Duration) // looks at a pod after a while
}

// Start makes every node of the cluster Ready and every bound pod Running, now
// and until ctx is done. It returns once all that exist are about to be looked
// at. config's identity must be allowed to list and watch nodes and pods, to
// update their status, to delete pods, and to write leases. What fails is tried
// again, and said to logs, one Write each, until ctx is done; nil drops it.
func Start(ctx context.Context, config *rest.Config, logs io.Writer) error {
	connections := connrotation.NewDialer((&net.Dialer{}).DialContext)
	config = rest.CopyConfig(config)
	config.Dial = connections.DialContext
	client, err := newClient(config)
	if err != nil {
		return fmt.Errorf("client of the kubelets: %w", err)
	}
	if logs == nil {
		logs = io.Discard
	}
	warnings := log.New(logs, "", 0)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(reconcile.StripManagedFields))
	nodes, pods := factory.Core().V1().Nodes(), factory.Core().V1().Pods()
	index := pods.Informer().GetIndexer()
	if err := index.AddIndexers(podIndexers); err != nil {
		return fmt.Errorf("index pods: %w", err)
	}
	k := &kubelets{client: client, nodes: nodes.Lister(), pods: pods.Lister(), podIndex: index, addresses: newAddresses(index)}

	nodeQueue, podQueue := reconcile.NewQueue("node", k.reportNode, warnings), reconcile.NewQueue("pod", k.reportPod, warnings)
	k.later = podQueue.AddAfter
	podsKnown, err := watch(pods.Informer(), warnings, podQueue.Add, podQueue.Add)
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	nodesKnown, err := watch(nodes.Informer(), warnings, func(node any) {
		nodeQueue.Add(node)
		k.podsOf(node.(*v1.Node).Name, podQueue.Add) // they may have been there before it
	}, nodeQueue.Add)
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}

	factory.StartWithContext(ctx)
	context.AfterFunc(ctx, func() {
		nodeQueue.Stop()
		podQueue.Stop()
		factory.Shutdown()
		connections.CloseAll()
	})
	if !cache.WaitFor(ctx, "", podsKnown, nodesKnown) {
		return fmt.Errorf("list nodes and pods: %w", context.Cause(ctx))
	}
	// Not before all pods are known: theirs are the addresses that are taken.
	nodeQueue.Start(ctx)
	podQueue.Start(ctx)
	return nil
}

// newClient speaks protobuf.
func newClient(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return kubernetes.NewForConfig(config)
}

// watch has what appears and what changes handled. The result is done
// once all that was there at first has been.
func watch(informer cache.SharedIndexInformer, warnings *log.Logger, appears, changes func(any)) (cache.DoneChecker, error) {
	if err := informer.SetWatchErrorHandlerWithContext(reconcile.WatchErrors("", warnings)); err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    appears,
		UpdateFunc: func(_, object any) { changes(object) },
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSyncedChecker(), nil
}
