package kubectl

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// surroundings are what explain reads besides the pod. For a pod that is not pending, these
// are only the nodes.
type surroundings struct {
	nodes      []*v1.Node // in the order of their names
	scheduler  string     // the message of a scheduler about the pod
	pods       []*v1.Pod  // that run on nodes
	namespaces map[string]labels.Set
	lacks      []lack
	notRead    []string // what could not be read, and why
}

// lack is an object that a pod needs and that is missing or unusable.
type lack struct{ what, problem, help string }

// look reads the surroundings of a pod. It skips what the user has no right to read, and
// notes that.
func (o *options) look(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (seen *surroundings, err error) {
	seen = &surroundings{}
	if seen.nodes, err = o.nodes(ctx, ""); err != nil {
		return nil, err
	}
	slices.SortFunc(seen.nodes, func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return seen, nil
	}
	reads := []func() error{
		func() (err error) { seen.scheduler, err = schedulerSays(ctx, client, pod); return err },
	}
	if patternsOf(o.policy, pod.Annotations) != (patterns{}) {
		reads = append(reads,
			func() error { return seen.readPods(ctx, o) },
			func() error { return seen.readNamespaces(ctx, o) },
			func() error { return seen.readClaims(ctx, client, pod) },
		)
	}
	for _, read := range reads {
		err := read()
		if apierrors.IsForbidden(err) {
			seen.notRead = append(seen.notRead, err.Error())
		} else if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// schedulerSays returns the last message of a scheduler about a pending pod. It is in the
// pod's condition, which outlives events, or else in an event.
func schedulerSays(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) (string, error) {
	for _, c := range pod.Status.Conditions {
		// The API server sets the condition of a gate, and keeps it when the gate is gone.
		outlived := c.Reason == v1.PodReasonSchedulingGated && len(pod.Spec.SchedulingGates) == 0
		if c.Type == v1.PodScheduled && c.Status == v1.ConditionFalse && !outlived {
			return c.Message, nil
		}
	}
	events, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{
		FieldSelector: "reason=FailedScheduling,involvedObject.uid=" + string(pod.UID),
	})
	if err != nil || len(events.Items) == 0 {
		return "", err
	}
	last := slices.MaxFunc(events.Items, func(a, b v1.Event) int {
		return cmp.Or(a.LastTimestamp.Compare(b.LastTimestamp.Time), a.EventTime.Compare(b.EventTime.Time))
	})
	return last.Message, nil
}

func (s *surroundings) readPods(ctx context.Context, o *options) error {
	all, err := o.pods(ctx, metav1.NamespaceAll)
	s.pods = slices.DeleteFunc(all, func(p *v1.Pod) bool {
		return p.Spec.NodeName == "" || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
	})
	return err
}

func (s *surroundings) readNamespaces(ctx context.Context, o *options) error {
	all, err := list[v1.Namespace](ctx, o, "namespaces", func(client kubernetes.Interface, opts metav1.ListOptions) (runtime.Object, error) {
		return client.CoreV1().Namespaces().List(ctx, opts)
	})
	s.namespaces = map[string]labels.Set{}
	for _, namespace := range all {
		s.namespaces[namespace.Name] = namespace.Labels
	}
	return err
}

// readClaims finds the claims that a pod lacks. A scheduler does not report on a pod
// without its ResourceClaim.
func (s *surroundings) readClaims(ctx context.Context, client kubernetes.Interface, pod *v1.Pod) error {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		if err := s.readVolumeClaim(ctx, client, pod.Namespace, volume.PersistentVolumeClaim.ClaimName); err != nil {
			return err
		}
	}
	for _, claim := range pod.Spec.ResourceClaims {
		if err := s.readResourceClaim(ctx, client, pod, claim); err != nil {
			return err
		}
	}
	return nil
}

func (s *surroundings) readVolumeClaim(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	claim, err := client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	what := "PersistentVolumeClaim " + name
	switch {
	case err != nil:
		return s.missing(what, namespace, err)
	case claim.DeletionTimestamp != nil:
		s.lacks = append(s.lacks, lack{what, "is being deleted", "recreate " + what + " when it is gone"})
	case claim.Status.Phase == v1.ClaimLost:
		s.lacks = append(s.lacks, lack{what, "has lost its volume", "recreate " + what + ", or let the pod use another one"})
	}
	return nil
}

// readResourceClaim looks for a claim that a pod names, or that is created for it.
func (s *surroundings) readResourceClaim(ctx context.Context, client kubernetes.Interface, pod *v1.Pod, claim v1.PodResourceClaim) error {
	name := claim.ResourceClaimName
	for _, created := range pod.Status.ResourceClaimStatuses {
		if name == nil && created.Name == claim.Name {
			if name = created.ResourceClaimName; name == nil { // the pod needs none
				return nil
			}
		}
	}
	if name != nil {
		_, err := client.ResourceV1().ResourceClaims(pod.Namespace).Get(ctx, *name, metav1.GetOptions{})
		return s.missing("ResourceClaim "+*name, pod.Namespace, err)
	}
	if claim.ResourceClaimTemplateName == nil {
		return nil
	}
	what := "ResourceClaimTemplate " + *claim.ResourceClaimTemplateName
	_, err := client.ResourceV1().ResourceClaimTemplates(pod.Namespace).Get(ctx, *claim.ResourceClaimTemplateName, metav1.GetOptions{})
	if err == nil {
		s.lacks = append(s.lacks, lack{
			"the claim of " + what, "has not been created yet",
			"check that kube-controller-manager runs: its resourceclaim controller creates the claim",
		})
	}
	return s.missing(what, pod.Namespace, err)
}

// missing notes that an object does not exist, if the error of reading it says so.
func (s *surroundings) missing(what, namespace string, err error) error {
	switch {
	case apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse): // the API server has no such resource
		s.notRead = append(s.notRead, fmt.Sprintf("%s: %v", what, err))
	case apierrors.IsNotFound(err):
		s.lacks = append(s.lacks, lack{what, "does not exist", "create " + what + " in namespace " + namespace})
	default:
		return err
	}
	return nil
}

// schedulers returns the schedulerNames of the scheduled pods, in order.
func (s *surroundings) schedulers() (names []string) {
	for _, pod := range s.pods {
		if !createdWithNode(pod) {
			names = append(names, pod.Spec.SchedulerName)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
