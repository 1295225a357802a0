package reconcile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// WatchErrors says to warnings what the watch of a kind fails with, but for the ends
// that watches have. An empty kind stands for the Go type.
func WatchErrors(kind string, warnings *log.Logger) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *cache.Reflector, err error) {
		if ctx.Err() == nil && !isUsual(err) {
			warnings.Printf("watch %s: %v; trying again", cmp.Or(kind, r.TypeDescription()), err)
		}
	}
}

func isUsual(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// StripManagedFields is a transform of informers. It leaves out a third of each
// object, which nobody here reads and which need not be sent back.
func StripManagedFields(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}
