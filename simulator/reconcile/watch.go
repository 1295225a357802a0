package reconcile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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

// Slim is a transform of informers that leaves out what nobody who looks at objects
// reads, and what need not be sent back.
func Slim(object any) (any, error) {
	if o, err := meta.Accessor(object); err == nil {
		o.SetManagedFields(nil)
	}
	return object, nil
}
