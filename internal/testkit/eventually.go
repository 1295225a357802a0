package testkit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Patience is how long a condition may take on a busy machine.
const Patience = 5 * time.Minute

// EventuallyReceives waits for a value, and ends the test if none comes.
func EventuallyReceives[T any](t testing.TB, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(Patience):
		t.Fatalf("%s: not within %s", what, Patience)
	}
	return value
}

// EventuallyHolds waits until a condition is true, and ends the test if it never is.
func EventuallyHolds(t testing.TB, what string, condition func() bool) {
	t.Helper()
	Eventually(t, what, func(context.Context) error {
		if condition() {
			return nil
		}
		return errors.New("it does not hold")
	})
}

// Eventually waits until a condition returns nil, and ends the test with its last error
// if it never does. The condition's context outlives the wait, so that this error is not
// about the end of the time.
func Eventually(t testing.TB, what string, condition func(ctx context.Context) error) {
	t.Helper()
	inner, cancel := context.WithTimeout(t.Context(), Patience+10*time.Second)
	defer cancel()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, Patience, true, func(context.Context) (bool, error) {
		last = condition(inner)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v: %v", what, err, last)
	}
}

// EventuallyIs waits until an object of the API is as it should be, and returns it. Get is a method of a typed client.
func EventuallyIs[T, O any](t testing.TB, name string, get func(context.Context, string, O) (T, error), is func(T) bool) (object T) {
	t.Helper()
	Eventually(t, name+" is as it should be", func(ctx context.Context) (err error) {
		var options O
		object, err = get(ctx, name, options)
		if err == nil && !is(object) {
			err = fmt.Errorf("it is %+v", object)
		}
		return err
	})
	return object
}

// EventuallyGone waits until Get returns an error for which isGone is true, which is apierrors.IsNotFound.
func EventuallyGone[T, O any](t testing.TB, name string, get func(context.Context, string, O) (T, error), isGone func(error) bool) {
	t.Helper()
	Eventually(t, name+" goes", func(ctx context.Context) error {
		var options O
		object, err := get(ctx, name, options)
		if isGone(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %+v, %w", object, err)
	})
}
