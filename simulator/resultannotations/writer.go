package resultannotations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"wasmkwokwizardry.io/regex-scheduling/simulator/recorder"
)

const (
	// workers is how many pods are written to at a time.
	workers = 4
	// tries is how often, before a pod goes without.
	tries = 5
)

// writer writes the annotations.
type writer struct {
	client   kubernetes.Interface
	attempts *recorder.Recorder
	warn     func(format string, args ...any)
	queue    workqueue.TypedRateLimitingInterface[scheduled]
}

// scheduled is a pod that has got a node.
type scheduled struct{ namespace, name, uid string }

// Start writes the annotations of all pods for which the recorder has a scheduled
// attempt from now on, until ctx is done. warn gets what cannot be written.
func Start(ctx context.Context, client kubernetes.Interface, attempts *recorder.Recorder, warn func(format string, args ...any)) {
	w := &writer{
		client: client, attempts: attempts, warn: warn,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[scheduled]()),
	}
	attempts.OnScheduled(func(namespace, name, uid string) { w.queue.Add(scheduled{namespace, name, uid}) })
	context.AfterFunc(ctx, w.queue.ShutDown)
	for range workers {
		go w.work(ctx)
	}
}

func (w *writer) work(ctx context.Context) {
	for {
		pod, ended := w.queue.Get()
		if ended {
			return
		}
		err := w.write(ctx, pod)
		switch {
		case err == nil, ctx.Err() != nil, apierrors.IsNotFound(err):
			w.queue.Forget(pod)
		case w.queue.NumRequeues(pod) < tries:
			w.queue.AddRateLimited(pod)
		default:
			w.queue.Forget(pod)
			w.warn("pod %s/%s goes without result annotations: %v", pod.namespace, pod.name, err)
		}
		w.queue.Done(pod)
	}
}

func (w *writer) write(ctx context.Context, of scheduled) error {
	pods := w.client.CoreV1().Pods(of.namespace)
	pod, err := pods.Get(ctx, of.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	attempts := slices.DeleteFunc(w.attempts.Attempts(of.namespace, of.name), func(a recorder.Attempt) bool { return a.UID != of.uid })
	if string(pod.UID) != of.uid || len(attempts) == 0 {
		return nil // gone meanwhile
	}
	annotations, left := fit(pod, attempts)
	if len(left) > 0 {
		w.warn("pod %s/%s: %s left out of its result annotations: a pod may have %d KiB of annotations in all",
			of.namespace, of.name, strings.Join(left, ", "), validation.TotalAnnotationSizeLimitB>>10)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": of.uid, "annotations": annotations}})
	if err != nil {
		return fmt.Errorf("result annotations: %w", err)
	}
	_, err = pods.Patch(ctx, of.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "simulator"})
	return err
}

// fit returns as many of the annotations as the pod has room for, and which have to
// be left out: they are nil. The attempts come the newest first.
func fit(pod *v1.Pod, attempts []recorder.Attempt) (annotations map[string]any, left []string) {
	room := validation.TotalAnnotationSizeLimitB
	for key, value := range pod.Annotations {
		if !strings.HasPrefix(key, prefix) {
			room -= len(key) + len(value)
		}
	}
	annotations = map[string]any{}
	put := func(key, value string) bool {
		if annotations[key] = nil; room < len(key)+len(value) {
			return false
		}
		room -= len(key) + len(value)
		annotations[key] = value
		return true
	}
	var past []map[string]string
	for _, a := range slices.Backward(attempts) {
		past = append(past, resultsOf(&a))
	}
	newest := past[len(past)-1]
	for _, name := range names {
		if !put(prefix+name, newest[prefix+name]) {
			left = append(left, name)
		}
	}
	for ; len(past) > 0; past = past[1:] { // the oldest goes first
		if raw, err := json.Marshal(past); err == nil && put(prefix+history, string(raw)) {
			break
		}
	}
	if len(past) < len(attempts) {
		left = append(left, fmt.Sprintf("%d of %d attempts in %s", len(attempts)-len(past), len(attempts), history))
	}
	return annotations, left
}
