package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// clusterWide are the kinds outside of namespaces that users of a simulator
// make. RBAC, API services and the like are the cluster's own.
var clusterWide = []schema.GroupVersionResource{
	{Version: "v1", Resource: "nodes"},
	{Version: "v1", Resource: "persistentvolumes"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattachments"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "volumeattributesclasses"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "deviceclasses"},
	{Group: "resource.k8s.io", Version: "v1", Resource: "resourceslices"},
	{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"},
	{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"},
}

// spared are objects that the cluster makes, in every namespace or once.
var spared = map[string]string{
	"services":        "metadata.name!=kubernetes",
	"endpoints":       "metadata.name!=kubernetes",
	"endpointslices":  "metadata.name!=kubernetes",
	"configmaps":      "metadata.name!=kube-root-ca.crt",
	"serviceaccounts": "metadata.name!=default",
	"priorityclasses": "metadata.name!=system-node-critical,metadata.name!=system-cluster-critical",
}

// namespaces are kept apart, since what is in them goes first.
var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// Reset goes back to how things were at the start. It deletes all resources that
// a user has made, waits until they are gone, forgets the attempts, restores the
// configuration that the simulator was started with, and makes anew what an
// export of that time would hold: what was in a kept cluster, and what
// ImportFirst brought. Objects of other kinds that were in a kept cluster are left
// as they are. Controllers wait until all that is done: they would make the pods of
// a workload anew before its turn to be deleted comes.
func (s *Simulator) Reset(ctx context.Context) error {
	var wrong error // with the configuration, which keeps no object from being made
	err := s.paused(func() (err error) {
		wrong, err = s.reset(ctx)
		return err
	})
	if err := errors.Join(wrong, err); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return nil
}

func (s *Simulator) reset(ctx context.Context) (wrong, err error) {
	if err := s.deleteAll(ctx); err != nil {
		return nil, err
	}
	if err := s.waitEmpty(ctx); err != nil {
		return nil, err
	}
	s.recorder.Reset()
	if !bytes.Equal(s.SchedulerConfig(), s.baseline.config) {
		if err := s.ApplySchedulerConfig(ctx, s.baseline.config); err != nil {
			wrong = fmt.Errorf("scheduler configuration: %w", err)
		}
	}
	return wrong, s.goBack(ctx)
}

// deleteAll deletes what users have made: namespaces but those that the cluster needs
// or that were there at the start, and what is in any. In the cluster's own namespaces
// only pods are the user's.
func (s *Simulator) deleteAll(ctx context.Context) error {
	client, err := metadata.NewForConfig(s.cluster.AdminConfig())
	if err != nil {
		return err
	}
	kinds, err := s.namespaced()
	if err != nil {
		return err
	}
	spaces := s.client.CoreV1().Namespaces()
	all, err := spaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var errs []error
	made := slices.DeleteFunc(all.Items, func(ns v1.Namespace) bool { return s.stays(&ns) })
	for _, ns := range made {
		if err := spaces.Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			errs = append(errs, err)
		}
	}
	for _, kind := range slices.Concat(kinds, clusterWide) {
		errs = append(errs, s.clear(ctx, client.Resource(kind), kind))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, ns := range made {
		// The namespace controller would come to the same end after five seconds.
		final := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns.Name}}
		if _, err := spaces.Finalize(ctx, final, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// stays is true of namespaces that a reset leaves.
func (s *Simulator) stays(ns *v1.Namespace) bool {
	return snapshot.IsSystemNamespace(ns.Name) || s.baseline.stays[ns.UID]
}

// deletedAtOnce is how many objects are under way.
const deletedAtOnce = 16

// clear deletes all objects of a kind that do not stay, at once and for good. A
// single request for all of them would run into the API server's timeout at some
// thousand pods.
func (s *Simulator) clear(ctx context.Context, all metadata.Getter, kind schema.GroupVersionResource) error {
	list, err := all.List(ctx, metav1.ListOptions{FieldSelector: spared[kind.Resource]})
	if err != nil {
		return fmt.Errorf("list %s: %w", kind.Resource, err)
	}
	now, background := int64(0), metav1.DeletePropagationBackground
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletedAtOnce)
	for _, object := range list.Items {
		ofCluster := snapshot.IsSystemNamespace(object.Namespace) && object.Namespace != metav1.NamespaceDefault && kind.Resource != "pods"
		if ofCluster || s.baseline.stays[object.UID] {
			continue
		}
		group.Go(func() error {
			client := all.Namespace(object.Namespace)
			err := client.Delete(ctx, object.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background})
			if err == nil && len(object.Finalizers) > 0 { // nobody else would take them away now
				_, err = client.Patch(ctx, object.Name, types.MergePatchType, withoutFinalizers, metav1.PatchOptions{})
			}
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete %s %s: %w", kind.Resource, object.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

var withoutFinalizers = []byte(`{"metadata":{"finalizers":null}}`)

// namespaced are the kinds in namespaces, pods first. Those of an API that a pod would
// serve are nowhere.
func (s *Simulator) namespaced() ([]schema.GroupVersionResource, error) {
	lists, err := s.client.Discovery().ServerPreferredNamespacedResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	deletable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists)
	found, err := discovery.GroupVersionResources(deletable)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupVersionResource) int {
		switch {
		case a.Resource == b.Resource:
			return strings.Compare(a.Group, b.Group)
		case a.Resource == "pods":
			return -1
		case b.Resource == "pods":
			return 1
		}
		return strings.Compare(a.Resource, b.Resource)
	}), nil
}

// waitEmpty waits until the caches show that everything is gone.
func (s *Simulator) waitEmpty(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := s.Changes(ctx)
	for {
		left := s.left()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return fmt.Errorf("still there: %s: %w", strings.Join(left, ", "), context.Cause(ctx))
		case <-s.running.Done():
			return context.Cause(s.running)
		}
	}
}

// left counts what users have made, by kind.
func (s *Simulator) left() (left []string) {
	core := s.informers.Core().V1()
	for kind, informer := range map[string]cache.SharedIndexInformer{
		"pods": core.Pods().Informer(), "nodes": core.Nodes().Informer(), "namespaces": core.Namespaces().Informer(),
		"persistent volumes": core.PersistentVolumes().Informer(), "persistent volume claims": core.PersistentVolumeClaims().Informer(),
		"storage classes": s.informers.Storage().V1().StorageClasses().Informer(),
	} {
		there := slices.DeleteFunc(informer.GetStore().List(), func(object any) bool {
			ns, ok := object.(*v1.Namespace)
			return ok && s.stays(ns)
		})
		if len(there) > 0 {
			left = append(left, fmt.Sprintf("%d %s", len(there), kind))
		}
	}
	slices.Sort(left)
	return left
}
