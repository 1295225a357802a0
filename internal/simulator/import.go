package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
)

// parallelism is how many objects are written at once.
const parallelism = 16

// Import applies a snapshot to what is there: first the scheduler's
// configuration, then the objects. What exists already is updated. progress,
// which may be nil, is told how many of how many objects are done, from several
// goroutines.
//
// Owner references are dropped, but for those to owners that are still there: the
// others have other UIDs here, and the garbage collector would delete what they
// own.
//
// Controllers wait until all of it is there, so that none makes the pods of a
// ReplicaSet that come after it, or takes a claim for lost before its volume.
func (s *Simulator) Import(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	if len(in.SchedulerConfig) > 0 && string(in.SchedulerConfig) != "null" {
		if err := s.ApplySchedulerConfig(ctx, in.SchedulerConfig); err != nil {
			return fmt.Errorf("import: scheduler configuration: %w", err)
		}
	}
	return s.held(func() error { return s.importAll(ctx, in, progress) })
}

// importAll imports the objects of a snapshot.
func (s *Simulator) importAll(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	i := &importing{progress: progress, owners: s.beginning.stays}
	in.Namespaces, in.PriorityClasses = without(in.Namespaces, isSystemNamespace), without(in.PriorityClasses, isSystemPriority)
	i.total = len(in.Pods) + len(in.Nodes) + len(in.PVs) + len(in.PVCs) +
		len(in.StorageClasses) + len(in.PriorityClasses) + len(in.Namespaces)
	if err := s.importObjects(ctx, i, in); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

// importObjects applies each kind after those it refers to.
func (s *Simulator) importObjects(ctx context.Context, i *importing, in *Snapshot) error {
	core := s.client.CoreV1()
	return errors.Join(
		put(ctx, i, "namespace", in.Namespaces, func(*v1.Namespace) client[v1.Namespace] { return core.Namespaces() }),
		put(ctx, i, "priority class", in.PriorityClasses, always(s.client.SchedulingV1().PriorityClasses())),
		put(ctx, i, "storage class", in.StorageClasses, always(s.client.StorageV1().StorageClasses())),
		put(ctx, i, "persistent volume claim", in.PVCs, func(c *v1.PersistentVolumeClaim) client[v1.PersistentVolumeClaim] {
			return core.PersistentVolumeClaims(c.Namespace)
		}),
		put(ctx, i, "persistent volume", in.PVs, func(pv *v1.PersistentVolume) client[v1.PersistentVolume] {
			s.claim(ctx, pv)
			return core.PersistentVolumes()
		}),
		put(ctx, i, "node", in.Nodes, always(core.Nodes())),
		put(ctx, i, "pod", in.Pods, func(p *v1.Pod) client[v1.Pod] { return core.Pods(p.Namespace) }),
	)
}

// claim gives a volume's reference the UID that the claim has here.
func (s *Simulator) claim(ctx context.Context, pv *v1.PersistentVolume) {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return
	}
	ref.UID, ref.ResourceVersion = "", ""
	if claim, err := s.client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
		ref.UID = claim.UID
	}
}

// importing counts.
type importing struct {
	total    int
	done     atomic.Int64
	progress func(done, of int)
	owners   map[types.UID]bool // whose UIDs are good
}

// owned are the references to such owners.
func (i *importing) owned(by []metav1.OwnerReference) []metav1.OwnerReference {
	return slices.DeleteFunc(by, func(owner metav1.OwnerReference) bool { return !i.owners[owner.UID] })
}

func (i *importing) step() {
	if done := i.done.Add(1); i.progress != nil {
		i.progress(int(done), i.total)
	}
}

// client is as much of a typed client as importing needs.
type client[T any] interface {
	Create(context.Context, *T, metav1.CreateOptions) (*T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*T, error)
}

func always[T any](c client[T]) func(*T) client[T] {
	return func(*T) client[T] { return c }
}

// put writes the objects of a kind. It stops at the first error.
func put[T any, P object[T]](ctx context.Context, i *importing, kind string, items []T, in func(*T) client[T]) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for at := range items {
		obj := P(&items[at])
		group.Go(func() error {
			defer i.step()
			obj.SetUID("")
			obj.SetResourceVersion("")
			obj.SetManagedFields(nil)
			obj.SetOwnerReferences(i.owned(obj.GetOwnerReferences()))
			if err := putOne(ctx, in(obj), obj); err != nil {
				return fmt.Errorf("%s %s: %w", kind, qualified(obj), err)
			}
			return nil
		})
	}
	return group.Wait()
}

func qualified(obj metav1.Object) string {
	if obj.GetNamespace() == "" {
		return obj.GetName()
	}
	return obj.GetNamespace() + "/" + obj.GetName()
}

// settle bounds the wait for the API server to notice a priority class or a
// namespace that was made a moment before.
const settle = 5 * time.Second

func putOne[T any, P object[T]](ctx context.Context, c client[T], obj P) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, settle, true, func(ctx context.Context) (bool, error) {
		created, err := c.Create(ctx, obj, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			created, err = update(ctx, c, obj)
		}
		if err == nil {
			err = putStatus(ctx, c, obj, created)
		}
		if last = err; apierrors.IsForbidden(err) || apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	})
	if last != nil && wait.Interrupted(err) {
		return last
	}
	return err
}

// update applies an object to the one that exists, as kube-scheduler-simulator
// does: what is not in the file, such as the node of a pod that was scheduled
// meanwhile, stays.
func update[T any, P object[T]](ctx context.Context, c client[T], obj P) (*T, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(any(obj).(runtime.Object))
	if err != nil {
		return nil, err
	}
	any(obj).(runtime.Object).GetObjectKind().SetGroupVersionKind(kinds[0])
	patch, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, obj.GetName(), types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: "simulator", Force: ptr.To(true)})
}
