package resultannotations

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/reconcile"
)

type writer struct {
	client   kubernetes.Interface
	attempts *recorder.Recorder
	warnings *log.Logger
}

// Start writes the annotations of all pods for which the recorder has a scheduled
// attempt from now on, until ctx is done. warnings gets what cannot be written.
func Start(ctx context.Context, client kubernetes.Interface, attempts *recorder.Recorder, warnings *log.Logger) (wait func()) {
	w := &writer{client, attempts, warnings}
	queue := reconcile.NewQueue("pod", w.write, w.warnings)
	attempts.OnScheduled = func(pod *v1.Pod) { queue.Add(pod) }
	return reconcile.Run(ctx, queue)
}

func (w *writer) write(ctx context.Context, name cache.ObjectName) error {
	pods := w.client.CoreV1().Pods(name.Namespace)
	pod, err := pods.Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	attempts := slices.DeleteFunc(w.attempts.Attempts(name.Namespace, name.Name), func(a recorder.Attempt) bool { return a.UID != string(pod.UID) })
	if len(attempts) == 0 {
		return nil // the one that was scheduled is gone
	}
	annotations, left := fit(pod, attempts)
	if len(left) > 0 {
		w.warnings.Printf("pod %s: %s omitted: a pod may have %d KiB of annotations in all",
			name, strings.Join(left, ", "), validation.TotalAnnotationSizeLimitB>>10)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, name.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "simulator"})
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		w.warnings.Printf("pod %s goes without: %v", name, err)
		return nil
	}
	return err
}

// fit returns as many of the annotations as the pod has room for, and which are
// omitted: they are nil. The attempts come the newest first.
func fit(pod *v1.Pod, attempts []recorder.Attempt) (annotations map[string]any, left []string) {
	room := validation.TotalAnnotationSizeLimitB
	for key, value := range pod.Annotations {
		if !strings.HasPrefix(key, prefix) {
			room -= len(key) + len(value)
		}
	}
	annotations = map[string]any{}
	put := func(key, value string) bool {
		annotations[key] = nil
		if room < len(key)+len(value) {
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
		raw, err := json.Marshal(past)
		if err == nil && put(prefix+history, string(raw)) {
			break
		}
	}
	if len(past) < len(attempts) {
		left = append(left, fmt.Sprintf("%d of %d attempts in %s", len(attempts)-len(past), len(attempts), history))
	}
	return annotations, left
}
