package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	readyPoll    = 25 * time.Millisecond
	readyTimeout = 2 * time.Minute // a laptop under load, with a wide margin
	abortTimeout = 10 * time.Second
)

// waitReady waits for /readyz and for the namespaces, which a controller of
// kube-apiserver makes without /readyz waiting for it.
//
// It goes on waiting for a while when ctx is done: a kube-apiserver that is
// stopped before its start hooks are through ends the process.
func (s *apiServer) waitReady(ctx context.Context, admin *rest.Config) error {
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(abortTimeout, cancel) })()
	var last error
	err = wait.PollUntilContextCancel(patient, readyPoll, true, func(ctx context.Context) (bool, error) {
		select {
		case <-s.done:
			return false, fmt.Errorf("it ended: %w", s.err)
		default:
		}
		last = ready(ctx, client)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for kube-apiserver: %w", errors.Join(err, last))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start kube-apiserver: %w", context.Cause(ctx))
	}
	return nil
}

func ready(ctx context.Context, client kubernetes.Interface) error {
	body, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Param("verbose", "").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("/readyz: %w: %s", err, failedChecks(string(body)))
	}
	for _, name := range []string{corev1.NamespaceDefault, metav1.NamespaceSystem, corev1.NamespaceNodeLease} {
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	return nil
}

// failedChecks are the lines of /readyz that name what is missing.
func failedChecks(body string) string {
	lines := slices.DeleteFunc(strings.Split(body, "\n"), func(line string) bool { return !strings.HasPrefix(line, "[-]") })
	return strings.Join(lines, ", ")
}
