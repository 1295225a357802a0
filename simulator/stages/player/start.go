package player

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/connrotation"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
)

// lookForKinds is how often it is asked whether a kind is there by now.
const lookForKinds = 2 * time.Second

// Start plays the stages of all kinds but pods and nodes, now and until ctx is done.
// A kind that the API server does not serve is an error, unless its group is one of
// custom resources and has nothing in it yet: it is then waited for, and warnings
// told so. What fails is tried again, and said to warnings.
func Start(ctx context.Context, config *rest.Config, set *stages.Set, warnings *log.Logger) error {
	connections := connrotation.NewDialer((&net.Dialer{}).DialContext)
	config = rest.CopyConfig(config)
	config.Dial = connections.DialContext
	var server *Server
	for _, of := range set.Kinds() {
		if of == stages.Pods || of == stages.Nodes {
			continue
		}
		var err error
		if server == nil {
			context.AfterFunc(ctx, connections.CloseAll)
			if server, err = Connect(ctx, config); err != nil {
				return err
			}
		}
		if err := server.start(ctx, of, set.Of(of), warnings); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) start(ctx context.Context, of stages.Ref, lifecycle stages.Lifecycle, warnings *log.Logger) error {
	err := s.play(ctx, of, lifecycle, warnings)
	var missing *notServed
	if !errors.As(err, &missing) || !missing.mayCome() {
		return err
	}
	warnings.Printf("the API server serves no %s: its stages begin once it does", of)
	go func() {
		err := wait.PollUntilContextCancel(ctx, lookForKinds, false, func(ctx context.Context) (bool, error) {
			err := s.play(ctx, of, lifecycle, warnings)
			if errors.As(err, &missing) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil && ctx.Err() == nil {
			warnings.Printf("%v; there are no stages of %s", err, of)
		}
	}()
	return nil
}

// play watches the objects of a kind and plays their stages.
func (s *Server) play(ctx context.Context, of stages.Ref, lifecycle stages.Lifecycle, warnings *log.Logger) error {
	var queue *reconcile.Queue
	player, err := New(of, lifecycle, s, noPods{}, func(object any, wait time.Duration) { queue.AddAfter(object, wait) }, warnings)
	if err != nil {
		return err
	}
	client, err := s.client("")
	if err != nil {
		return err
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(client, player.resource.GroupVersionResource, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
	queue = reconcile.NewQueue(of.Kind, func(ctx context.Context, name cache.ObjectName) error {
		object, exists, err := informer.GetStore().GetByKey(name.String())
		if err == nil && exists {
			player.Play(ctx, object.(*unstructured.Unstructured))
		}
		return err
	}, warnings)
	if err := watch(informer, of, queue, player, warnings); err != nil {
		return fmt.Errorf("watch %s: %w", of, err)
	}
	queue.Start(ctx)
	go informer.RunWithContext(ctx)
	context.AfterFunc(ctx, queue.Stop)
	return nil
}

func watch(informer cache.SharedIndexInformer, of stages.Ref, queue *reconcile.Queue, player *Player, warnings *log.Logger) error {
	handled := informer.SetWatchErrorHandlerWithContext(reconcile.WatchErrors(of.String(), warnings))
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    queue.Add,
		UpdateFunc: func(_, object any) { queue.Add(object) },
		DeleteFunc: player.Forget,
	})
	return errors.Join(handled, err, informer.SetTransform(reconcile.Slim))
}

// noPods is what templates of other kinds than pods and nodes can ask: nothing.
type noPods struct{}

func (noPods) NodeIP() string                                       { return "" }
func (noPods) NodeIPs(string) []string                              { return nil }
func (noPods) PodIPs(metav1.Object, string, bool) ([]string, error) { return nil, nil }
