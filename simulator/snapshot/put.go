package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

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

// settle bounds the wait for the API server to notice a priority class or a
// namespace that was made a moment before.
const settle = 5 * time.Second

// maxConflicts bounds how often an object is tried again that others, such as its
// kubelet, have changed meanwhile.
const maxConflicts = 50

// putOne writes an object without what only its own cluster can make of it. The
// object itself stays as it is.
func (k typed[T, L, P]) putOne(ctx context.Context, i *importing, in P) error {
	was, obj := in.GetUID(), P(new(T))
	*obj = *in
	obj.SetUID("")
	obj.SetResourceVersion("")
	obj.SetManagedFields(nil)
	obj.SetOwnerReferences(i.Owned(obj.GetOwnerReferences()))
	i.adapt(ctx, obj)
	c := k.client(i.Client, obj.GetNamespace())
	for tries := 0; ; tries++ {
		created, err := c.Create(ctx, obj, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) || apierrors.IsForbidden(err) && isThere(ctx, c, obj.GetName()) {
			created, err = update(ctx, c, obj)
		}
		if err == nil {
			i.moved(was, P(created).GetUID())
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

// moved notes which UID an object has here.
func (i *Importer) moved(was, is types.UID) {
	if was != "" {
		i.uids.Store(was, is)
	}
}

// adapt makes of an object what it has to be here.
func (i *importing) adapt(ctx context.Context, obj metav1.Object) {
	finalizers := obj.GetFinalizers()
	obj.SetFinalizers(nil) // nobody here would take them away
	switch obj := obj.(type) {
	case *v1.PersistentVolume:
		i.claim(ctx, obj)
	case *v1.Service:
		adaptService(&obj.Spec)
	case *v1.Pod:
		if counts(obj, slices.Contains(finalizers, batchv1.JobTrackingFinalizer)) {
			obj.SetFinalizers([]string{batchv1.JobTrackingFinalizer})
		}
	case *batchv1.Job:
		if obj.Spec.Selector != nil { // made by its API server from the UID that it had
			obj.Spec.ManualSelector = ptr.To(true)
		}
	case *resourcev1.ResourceClaim:
		if slices.Contains(finalizers, resourcev1.Finalizer) { // but for this one
			obj.SetFinalizers([]string{resourcev1.Finalizer})
		}
	}
}

// counts is true of pods whose job, which is here, has yet to count their end. Its
// controller takes the finalizer away from those that it has counted.
func counts(pod *v1.Pod, tracked bool) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job" && (tracked || !podutil.IsPodTerminal(pod))
}

// adaptService leaves the addresses of a service to the API server here, unless it
// is to have none: its range is another.
func adaptService(spec *v1.ServiceSpec) {
	if spec.ClusterIP != v1.ClusterIPNone {
		spec.ClusterIP, spec.ClusterIPs = "", nil
	}
	ports := slices.Clone(spec.Ports)
	for i := range ports {
		ports[i].NodePort = 0
	}
	spec.Ports, spec.HealthCheckNodePort = ports, 0
}

// claim gives a volume's reference the UID that the claim has here.
func (i *importing) claim(ctx context.Context, pv *v1.PersistentVolume) {
	if pv.Spec.ClaimRef == nil {
		return
	}
	ref := pv.Spec.ClaimRef.DeepCopy()
	pv.Spec.ClaimRef = ref
	ref.UID, ref.ResourceVersion = "", ""
	if claim, err := i.Client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{}); err == nil {
		ref.UID = claim.UID
	}
}

// isThere is true of what exists: that a second default priority class is forbidden is
// said before that there is one of this name.
func isThere[T, L any](ctx context.Context, c client[T, L], name string) bool {
	_, err := c.Get(ctx, name, metav1.GetOptions{})
	return err == nil
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
