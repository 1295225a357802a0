package capacity

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/simulator/side"
)

// MostReplicas is how many are tried, at most, to see how many fit.
const MostReplicas = 10_000

// Fit tries manifests, which it uses up, in a side of its own. With untilFull it adds
// replicas of their workload to those that it has, until one finds no node.
func Fit(ctx context.Context, o side.Options, m *Manifests, untilFull bool) (*Fitting, error) {
	f := &fitting{Manifests: m, mover: newMover(o.Cluster)}
	f.Workloads, f.Fitting.LeftOut, f.UntilFull = m.workloads, m.leftOut, untilFull
	do := f.tryAll
	if untilFull {
		if do = f.fill; len(m.workloads) != 1 || m.workloads[0].Kind == "DaemonSet" {
			return nil, errors.New("how many replicas fit can be said of one workload, and of no DaemonSet")
		}
		// They come last, and wait rather than push out others.
		class := schedulingv1.PriorityClass{Value: -scheduling.HighestUserDefinablePriority, PreemptionPolicy: ptr.To(v1.PreemptNever)}
		class.Name = "pushes-nobody-out"
		m.objects.PriorityClasses = append(m.objects.PriorityClasses, class)
		spec := &m.workloads[0].template.Spec
		spec.PriorityClassName, spec.Priority, spec.PreemptionPolicy = class.Name, nil, nil
	}
	o.Pods, o.Seed, o.PodGroups = side.Pending, 1, len(m.objects.PodGroups) > 0
	o.Then = func(ctx context.Context, in *side.Sandbox) error {
		err := f.enter(ctx, in, func(ctx context.Context) error { return in.Importer().Import(ctx, &m.objects, nil) })
		if err == nil {
			err = do(ctx)
		}
		return err
	}
	began := time.Now()
	_, err := side.Run(ctx, o)
	if f.Took = time.Since(began); err == nil && f.Tried == 0 {
		err = errors.New("nothing was tried: no replica is wanted, or there is no node for a DaemonSet")
	}
	return &f.Fitting, err
}

type fitting struct {
	Fitting
	*Manifests
	*mover
}

// tryAll tries all pods of the manifests. Those that they push out are made anew, if
// something would do that.
func (f *fitting) tryAll(ctx context.Context) error {
	_, err := f.try(ctx, f.makeAll)
	if err == nil && slices.ContainsFunc(f.pods, (*resident).returns) {
		err = f.clear(ctx, nil, 1)
	}
	if err == nil {
		f.tell()
	}
	return err
}

// makeAll has pods take the place of those that their workloads have in the cluster.
func (f *fitting) makeAll(ctx context.Context) error {
	var old side.Step
	f.pods = slices.DeleteFunc(f.pods, func(p *resident) bool {
		at := slices.IndexFunc(f.workloads, func(w *Workload) bool { return w.replaces(p) })
		if at >= 0 {
			f.workloads[at].Replaced++
			delete(f.named, p.name)
			name := map[string]any{"namespace": p.Namespace, "name": p.Name}
			old.Delete = append(old.Delete, map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": name})
		}
		return at >= 0
	})
	err := f.Do(ctx, old)
	for i := 0; i < len(f.workloads) && err == nil; i++ {
		err = f.more(ctx, f.workloads[i], f.workloads[i].replicas)
	}
	return err
}

func (w *Workload) replaces(p *resident) bool {
	its := p.now.Owner == side.Owner{Kind: w.Kind, Name: w.Name} || w.Kind == "Pod" && w.Name == p.Name
	return its && w.Namespace == p.Namespace
}

// more makes so many more pods of a workload, or one for each node of a DaemonSet.
func (f *fitting) more(ctx context.Context, w *Workload, replicas int) error {
	if set, ok := w.object.(*appsv1.DaemonSet); ok {
		for _, node := range f.nodes {
			is := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels}, Spec: v1.NodeSpec{Taints: node.Taints}}
			if runs, _ := daemon.NodeShouldRunDaemonPod(klog.FromContext(ctx), is, set); runs {
				w.nodes = append(w.nodes, node.Name)
			}
		}
		replicas = len(w.nodes)
	}
	var claims []v1.PersistentVolumeClaim
	had := len(w.pods)
	for ; len(w.pods)-had < replicas && (len(w.nodes) == 0 || w.next < len(w.nodes)); w.next++ {
		pod, its := w.pod(w.next)
		if f.named[pod.Namespace+"/"+pod.Name] == nil {
			w.pods, claims = append(w.pods, f.addPod(pod)), append(claims, its...)
		}
	}
	if err := f.claim(ctx, claims); err != nil {
		return err
	}
	return f.make(ctx, w.pods[had:], func(p *resident) string { return p.Spec.NodeName })
}

// volumesWithin bounds the wait for volumes: some come with the pod, and some never.
const volumesWithin = 3 * time.Second

// claim makes claims, and waits for the volumes of all that there are.
func (f *fitting) claim(ctx context.Context, claims []v1.PersistentVolumeClaim) error {
	client := f.Client().CoreV1()
	for _, claim := range claims {
		_, err := client.PersistentVolumeClaims(claim.Namespace).Create(ctx, &claim, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if len(claims)+len(f.objects.PVCs) == 0 {
		return nil
	}
	_ = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, volumesWithin, true, func(ctx context.Context) (bool, error) {
		all, err := client.PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(all.Items, func(c v1.PersistentVolumeClaim) bool { return c.Status.Phase == v1.ClaimPending }), nil
	})
	return ctx.Err()
}

// fill adds replicas, more at a time as long as all find a node, until one finds none.
func (f *fitting) fill(ctx context.Context) error {
	w := f.workloads[0]
	for batch := 16; f.Waiting == 0 && len(w.Pods) < MostReplicas; batch = min(2*batch, 512) {
		_, err := f.try(ctx, func(ctx context.Context) error { return f.more(ctx, w, min(batch, MostReplicas-len(w.Pods))) })
		if err != nil {
			return err
		}
		f.tell()
	}
	if len(w.Why) > 0 {
		f.Message = slices.Min(slices.Collect(maps.Keys(w.Why)))
	}
	for _, found := range short.FindAllStringSubmatch(f.Message, -1) {
		f.Short = append(f.Short, cmp.Or(found[1], "pods"))
	}
	maps.DeleteFunc(w.Pods, func(_, node string) bool { return node == "" })
	return nil
}

// short finds what a message of the scheduler's says too little is left of.
var short = regexp.MustCompile(`Insufficient ([^\s,]*[^\s,.])|Too many pods`)
