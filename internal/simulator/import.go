package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
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
// A configuration that is no good stops it before anything is done. Objects that
// the API server refuses do not stop it: the error is then a [NotImported].
//
// References to owners follow these to the UIDs that they have here. Those to
// owners that are not here are dropped, since the garbage collector would delete
// what they own.
func (s *Simulator) Import(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	if len(in.SchedulerConfig) > 0 && string(in.SchedulerConfig) != "null" {
		if err := s.ApplySchedulerConfig(ctx, in.SchedulerConfig); err != nil {
			return fmt.Errorf("import: scheduler configuration: %w", err)
		}
	}
	return s.importAll(ctx, in, progress)
}

// NotImported are the objects that an import left out, since the API server
// refused them. All others are there.
type NotImported []Notice

func (n NotImported) Error() string {
	all := make([]string, len(n))
	for i := range n {
		all[i] = n[i].String()
	}
	return "import: " + strings.Join(all, "; ")
}

// importAll imports the objects of a snapshot.
func (s *Simulator) importAll(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	in.dropSystems()
	nameClaims(in)
	if err := s.complete(ctx, in); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	i := &importing{client: s.client, progress: progress, stays: s.beginning.stays, total: in.Objects()}
	for _, kind := range Kinds {
		for _, which := range inTurn(kind) {
			i.until = time.Now().Add(settle)
			if err := kind.put(ctx, i, in, which); err != nil {
				return fmt.Errorf("import: %w", err)
			}
		}
	}
	if len(i.refused) > 0 {
		sortNotices(i.refused)
		return i.refused
	}
	return nil
}

// inTurn are the objects of a kind that are made first, and those that are made
// after them: pods that have a node take their room before any other looks for some.
func inTurn(kind Kind) []func(metav1.Object) bool {
	bound := func(o metav1.Object) bool {
		pod, ok := o.(*v1.Pod)
		return !ok || pod.Spec.NodeName != ""
	}
	if kind.Kind != "Pod" {
		return []func(metav1.Object) bool{bound}
	}
	return []func(metav1.Object) bool{bound, func(o metav1.Object) bool { return !bound(o) }}
}

// importing is an import under way.
type importing struct {
	client   kubernetes.Interface
	total    int
	done     atomic.Int64
	progress func(done, of int)
	stays    map[types.UID]bool // what has kept its UID
	uids     sync.Map           // from what was to what is
	until    time.Time          // when what was made before has settled

	mu      sync.Mutex
	refused NotImported
}

// owned are the references to owners that are here.
func (i *importing) owned(by []metav1.OwnerReference) []metav1.OwnerReference {
	var here []metav1.OwnerReference
	for _, owner := range by {
		if uid, ok := i.uids.Load(owner.UID); ok {
			owner.UID = uid.(types.UID)
		} else if !i.stays[owner.UID] {
			continue
		}
		here = append(here, owner)
	}
	return here
}

func (i *importing) step() {
	if done := i.done.Add(1); i.progress != nil {
		i.progress(int(done), i.total)
	}
}

// refuse notes what the API server does not take.
func (i *importing) refuse(about string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = append(i.refused, Notice{About: about, Reason: err.Error()})
}

// put writes objects of a kind. What is refused does not stop it; the end of ctx
// or of the API server does.
func (k typed[T, L, P]) put(ctx context.Context, i *importing, in *Snapshot, which func(metav1.Object) bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	items := *k.items(in)
	for at := range items {
		obj := P(&items[at])
		if !which(obj) {
			continue
		}
		group.Go(func() error {
			defer i.step()
			err := k.putOne(ctx, i, obj)
			if status := apierrors.APIStatus(nil); errors.As(err, &status) && ctx.Err() == nil {
				i.refuse(k.title+" "+qualified(obj), err)
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", k.title, qualified(obj), err)
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

// maxConflicts bounds how often an object is tried again that others, such as its
// kubelet, have changed meanwhile.
const maxConflicts = 50

// putOne writes an object without what only its own cluster can make of it.
func (k typed[T, L, P]) putOne(ctx context.Context, i *importing, obj P) error {
	was := obj.GetUID()
	obj.SetUID("")
	obj.SetResourceVersion("")
	obj.SetManagedFields(nil)
	obj.SetOwnerReferences(i.owned(obj.GetOwnerReferences()))
	i.adapt(ctx, obj)
	c := k.client(i.client, obj.GetNamespace())
	for tries := 0; ; tries++ {
		created, err := c.Create(ctx, obj, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			created, err = update(ctx, c, obj)
		}
		if err == nil {
			i.uids.Store(was, P(created).GetUID())
			err = putStatus(ctx, c, obj, created)
		}
		if again := apierrors.IsForbidden(err) && time.Now().Before(i.until) || apierrors.IsConflict(err) && tries < maxConflicts; !again {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// adapt makes of an object what it has to be here: see where each is told.
func (i *importing) adapt(ctx context.Context, obj metav1.Object) {
	finalizers := obj.GetFinalizers()
	obj.SetFinalizers(nil) // nobody here would take them away
	switch obj := obj.(type) {
	case *v1.PersistentVolume:
		i.claim(ctx, obj)
	case *resourcev1.ResourceClaim:
		if slices.Contains(finalizers, resourcev1.Finalizer) { // but for this one
			obj.SetFinalizers([]string{resourcev1.Finalizer})
		}
	}
}

// claim gives a volume's reference the UID that the claim has here.
func (i *importing) claim(ctx context.Context, pv *v1.PersistentVolume) {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return
	}
	ref.UID, ref.ResourceVersion = "", ""
	if claim, err := i.client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
		ref.UID = claim.UID
	}
}

// update applies an object to the one that exists, as kube-scheduler-simulator
// does: what is not in the file, such as the node of a pod that was scheduled
// meanwhile, stays.
func update[T, L any, P object[T]](ctx context.Context, c client[T, L], obj P) (*T, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	patch, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return c.Patch(ctx, obj.GetName(), types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: "simulator", Force: ptr.To(true)})
}
