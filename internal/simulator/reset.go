package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
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

// What is in namespaces goes before these, and pods go first.
var (
	namespaces = v1.SchemeGroupVersion.WithResource("namespaces")
	pods       = v1.SchemeGroupVersion.WithResource("pods")
)

// Reset goes back to how things were at the start. It deletes all resources that
// a user has made, waits until they are gone, forgets the attempts, restores the
// configuration that the simulator was started with, and recreates what an
// export of that time would hold: what was in a kept cluster, and what
// ImportFirst imported. Objects of other kinds that were in a kept cluster stay
// as they are. Controllers are paused meanwhile: they would recreate the pods of
// a workload before the workload is deleted.
func (s *Simulator) Reset(ctx context.Context) error {
	var wrong error // with the configuration, which keeps no object from being made
	err := s.paused(func() error {
		if err := s.deleteAll(ctx); err != nil {
			return err
		}
		if err := s.waitEmpty(ctx); err != nil {
			return err
		}
		s.recorder.Reset()
		if !bytes.Equal(s.SchedulerConfig(), s.baseline.config) {
			if err := s.ApplySchedulerConfig(ctx, s.baseline.config); err != nil {
				wrong = fmt.Errorf("scheduler configuration: %w", err)
			}
		}
		return s.goBack(ctx)
	})
	if err := errors.Join(wrong, err); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return nil
}

// deleteAll deletes what users have made: namespaces but the ones that the cluster needs
// or that were there at the start, and what is in any. In the cluster's own namespaces
// only pods are the user's.
func (s *Simulator) deleteAll(ctx context.Context) error {
	client, kinds, err := s.kinds()
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
		errs = append(errs, unlessGone(spaces.Delete(ctx, ns.Name, metav1.DeleteOptions{})))
	}
	for _, kind := range kinds {
		errs = append(errs, s.clear(ctx, client.Resource(kind), kind))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, ns := range made {
		// The namespace controller would come to the same end after five seconds.
		_, err := spaces.Finalize(ctx, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns.Name}}, metav1.UpdateOptions{})
		errs = append(errs, unlessGone(err))
	}
	return errors.Join(errs...)
}

// unlessGone drops the errors of deleting what is gone, or about to go.
func unlessGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// stays reports whether a reset leaves a namespace.
func (s *Simulator) stays(ns *v1.Namespace) bool {
	return snapshot.IsSystemNamespace(ns.Name) || s.baseline.stays[ns.UID]
}

const deletedAtOnce = 16

// clear deletes all objects of a kind that do not stay, at once and for good. A
// single request for all of them would run into the API server's timeout at some
// thousand pods.
func (s *Simulator) clear(ctx context.Context, all metadata.Getter, kind schema.GroupVersionResource) error {
	list, err := all.List(ctx, metav1.ListOptions{FieldSelector: spared[kind.Resource]})
	if err != nil {
		return fmt.Errorf("list %s: %w", kind.Resource, err)
	}
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0), PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletedAtOnce)
	for _, object := range list.Items {
		ofCluster := snapshot.IsSystemNamespace(object.Namespace) && object.Namespace != metav1.NamespaceDefault && kind != pods
		if ofCluster || s.baseline.stays[object.UID] {
			continue
		}
		group.Go(func() error {
			client := all.Namespace(object.Namespace)
			err := client.Delete(ctx, object.Name, now)
			if err == nil && len(object.Finalizers) > 0 { // nothing else would take them away now
				_, err = client.Patch(ctx, object.Name, types.MergePatchType, withoutFinalizers, metav1.PatchOptions{})
			}
			if unlessGone(err) != nil {
				return fmt.Errorf("delete %s %s: %w", kind.Resource, object.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

var withoutFinalizers = []byte(`{"metadata":{"finalizers":null}}`)

// kinds are the kinds of which users make objects, but for namespaces; pods come first.
// An API that a pod would serve has none.
func (s *Simulator) kinds() (metadata.Interface, []schema.GroupVersionResource, error) {
	lists, err := s.client.Discovery().ServerPreferredNamespacedResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, nil, err
	}
	found, err := discovery.GroupVersionResources(discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists))
	if err != nil {
		return nil, nil, err
	}
	delete(found, pods)
	client, err := metadata.NewForConfig(s.AdminConfig())
	return client, slices.Concat([]schema.GroupVersionResource{pods}, slices.Collect(maps.Keys(found)), clusterWide), err
}

// waitEmpty waits until the caches show that everything is gone.
func (s *Simulator) waitEmpty(ctx context.Context) error {
	var left string
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		left = s.left()
		return left == "", context.Cause(s.running)
	})
	if ctx.Err() != nil {
		return fmt.Errorf("still there: %s: %w", left, context.Cause(ctx))
	}
	return err
}

// left counts what users have made, by kind.
func (s *Simulator) left() string {
	core := s.informers.Core().V1()
	var left []string
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
	return strings.Join(left, ", ")
}
