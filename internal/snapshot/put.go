package snapshot

import (
	"context"
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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"
)

// put writes the objects of a kind that come last, or all others. What the API server rejects does not stop it; the end of ctx
// or of the API server does.
func (i *importing) put(ctx context.Context, kind Kind, in *Snapshot, last bool) error {
	i.until = time.Now().Add(settle)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for obj := range kind.All(in) {
		if comesLast(obj) != last {
			continue
		}
		group.Go(func() error {
			err := i.putOne(ctx, kind, obj)
			i.progress(int(i.done.Add(1)), i.total)
			about := kind.Title + " " + qualified(obj)
			status := apierrors.APIStatus(nil)
			switch {
			case err == nil:
				return nil
			case !errors.As(err, &status) || ctx.Err() != nil:
				return fmt.Errorf("%s: %w", about, err)
			case kind.Kind == "PodGroup" && apierrors.IsNotFound(err):
				err = errors.New("its pods are scheduled one by one: start the simulator with --pod-groups")
			}
			i.mu.Lock()
			defer i.mu.Unlock()
			i.rejected = append(i.rejected, Notice{About: about, Reason: err.Error()})
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
func (i *importing) putOne(ctx context.Context, kind Kind, in Object) error {
	obj := in.DeepCopyObject().(Object)
	obj.SetUID("")
	obj.SetResourceVersion("")
	obj.SetManagedFields(nil)
	obj.SetOwnerReferences(i.owned(obj.GetOwnerReferences()))
	i.adapt(ctx, obj)
	for tries := 0; ; tries++ {
		err := i.create(ctx, kind, obj, in.GetUID())
		again := apierrors.IsForbidden(err) && time.Now().Before(i.until) || apierrors.IsConflict(err) && tries < maxConflicts
		if !again {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// owned are the references to owners that have been imported.
func (i *importing) owned(by []metav1.OwnerReference) (here []metav1.OwnerReference) {
	for _, owner := range by {
		if uid, ok := i.uids.Load(owner.UID); ok {
			owner.UID = uid.(types.UID)
			here = append(here, owner)
		}
	}
	return here
}

// create makes an object, or updates it if it is there, and notes its new UID.
func (i *importing) create(ctx context.Context, kind Kind, obj Object, was types.UID) error {
	made, err := kind.request(client(i.client).Post(), obj.GetNamespace()).Body(obj).Do(ctx).Get()
	there := apierrors.IsAlreadyExists(err)
	if apierrors.IsForbidden(err) { // perhaps as a second default priority class, though it is the first itself
		there, _ = kind.isThere(ctx, i.client, obj)
	}
	if there {
		// As kube-scheduler-simulator does: what is not in the file, such as the node of
		// a pod that was scheduled meanwhile, stays.
		patch, wrong := runtime.Encode(scheme.Codecs.LegacyCodec(kind.Resource.GroupVersion()), obj)
		if wrong != nil {
			return wrong
		}
		made, err = kind.request(client(i.client).Patch(types.ApplyPatchType), obj.GetNamespace()).Name(obj.GetName()).
			VersionedParams(&metav1.PatchOptions{FieldManager: "simulator", Force: ptr.To(true)}, scheme.ParameterCodec).
			Body(patch).Do(ctx).Get()
	}
	if err != nil {
		return err
	}
	created := made.(Object)
	if was != "" {
		i.uids.Store(was, created.GetUID())
	}
	if !restoreStatus(obj, created) {
		return nil
	}
	return kind.request(client(i.client).Put(), obj.GetNamespace()).Name(obj.GetName()).SubResource("status").Body(created).Do(ctx).Error()
}

// restoreStatus gives an object the status that nothing here would bring about again,
// if there is one: the room and the images of nodes, which volume and which device
// belongs to which claim, how far jobs are, and that a pod has ended. The status of
// other pods comes from the kubelets and the scheduler.
func restoreStatus(from, created Object) bool {
	switch to := created.(type) {
	case *v1.Node:
		status := from.(*v1.Node).Status
		to.Status.Conditions = ailing(from.(*v1.Node))
		if len(status.Capacity) == 0 && len(status.Allocatable) == 0 && len(to.Status.Conditions) == 0 {
			return false // the file does not say how large it is: it keeps the room that it has
		}
		to.Status.Capacity, to.Status.Allocatable = status.Capacity, status.Allocatable
		to.Status.Images, to.Status.DeclaredFeatures = status.Images, status.DeclaredFeatures
	case *v1.Pod:
		to.Status.Phase = from.(*v1.Pod).Status.Phase
		return podutil.IsPodPhaseTerminal(to.Status.Phase) // it takes no room, and the kubelets leave it alone
	case *batchv1.Job:
		to.Status = from.(*batchv1.Job).Status
	case *batchv1.CronJob:
		to.Status.LastScheduleTime = from.(*batchv1.CronJob).Status.LastScheduleTime
	case *resourcev1.ResourceClaim:
		to.Status.Allocation = from.(*resourcev1.ResourceClaim).Status.Allocation
		return to.Status.Allocation != nil
	case *v1.PersistentVolume:
		to.Status.Phase = from.(*v1.PersistentVolume).Status.Phase
	case *v1.PersistentVolumeClaim:
		to.Status = from.(*v1.PersistentVolumeClaim).Status
	default:
		return false
	}
	return true
}

// conditionOf is the condition for which the node lifecycle controller gives a node a taint.
var conditionOf = map[string]v1.NodeCondition{
	v1.TaintNodeNotReady:           {Type: v1.NodeReady, Status: v1.ConditionFalse},
	v1.TaintNodeUnreachable:        {Type: v1.NodeReady, Status: v1.ConditionUnknown},
	v1.TaintNodeMemoryPressure:     {Type: v1.NodeMemoryPressure, Status: v1.ConditionTrue},
	v1.TaintNodeDiskPressure:       {Type: v1.NodeDiskPressure, Status: v1.ConditionTrue},
	v1.TaintNodePIDPressure:        {Type: v1.NodePIDPressure, Status: v1.ConditionTrue},
	v1.TaintNodeNetworkUnavailable: {Type: v1.NodeNetworkUnavailable, Status: v1.ConditionTrue},
}

// ConditionsOf are the conditions of a node. A file may have none of them: its taints tell, and without these it is ready.
func ConditionsOf(node *v1.Node) []v1.NodeCondition {
	all := slices.Clone(node.Status.Conditions)
	add := func(condition v1.NodeCondition) {
		if !slices.ContainsFunc(all, func(c v1.NodeCondition) bool { return c.Type == condition.Type }) {
			condition.Reason = "Imported"
			all = append(all, condition)
		}
	}
	for _, taint := range node.Spec.Taints {
		condition, ok := conditionOf[taint.Key]
		if ok {
			add(condition)
		}
	}
	add(v1.NodeCondition{Type: v1.NodeReady, Status: v1.ConditionTrue})
	return all
}

// ailing are the conditions of a node that keep pods away from it.
func ailing(node *v1.Node) []v1.NodeCondition {
	return slices.DeleteFunc(ConditionsOf(node), func(c v1.NodeCondition) bool {
		return c.Type == v1.NodeReady && c.Status == v1.ConditionTrue || c.Type != v1.NodeReady && c.Status != v1.ConditionTrue
	})
}

// adapt makes of an object what it has to be here.
func (i *importing) adapt(ctx context.Context, obj Object) {
	// Nothing here would take finalizers away, but for two.
	finalizers := obj.GetFinalizers()
	keep := func(finalizer string) { obj.SetFinalizers([]string{finalizer}) }
	obj.SetFinalizers(nil)
	switch obj := obj.(type) {
	case *v1.PersistentVolume:
		i.claim(ctx, obj.Spec.ClaimRef)
	case *v1.Service:
		// The addresses are left to the API server here: its range is another.
		if obj.Spec.ClusterIP != v1.ClusterIPNone {
			obj.Spec.ClusterIP, obj.Spec.ClusterIPs = "", nil
		}
		for i := range obj.Spec.Ports {
			obj.Spec.Ports[i].NodePort = 0
		}
		obj.Spec.HealthCheckNodePort = 0
	case *v1.Pod:
		obj.Spec.EphemeralContainers = nil // which no new pod may have
		// Its job, which is here, has yet to count its end: the controller takes the
		// finalizer away from the pods that it has counted.
		owner := metav1.GetControllerOf(obj)
		tracked := slices.Contains(finalizers, batchv1.JobTrackingFinalizer)
		if owner != nil && owner.Kind == "Job" && (tracked || !podutil.IsPodTerminal(obj)) {
			keep(batchv1.JobTrackingFinalizer)
		}
	case *batchv1.Job:
		if obj.Spec.Selector != nil { // made by its API server from the UID that it had
			obj.Spec.ManualSelector = ptr.To(true)
		}
	case *resourcev1.ResourceClaim:
		if slices.Contains(finalizers, resourcev1.Finalizer) {
			keep(resourcev1.Finalizer)
		}
	}
}

// claim gives a volume's reference the UID that the claim has here.
func (i *importing) claim(ctx context.Context, ref *v1.ObjectReference) {
	if ref == nil {
		return
	}
	ref.UID, ref.ResourceVersion = "", ""
	claim, err := i.client.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err == nil {
		ref.UID = claim.UID
	}
}
