// Package clock is the time in a cluster in memory.
package clock

import (
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// Clock is a clock of Kubernetes whose time passes only when somebody reads it, or steps it.
type Clock struct{ *clocktesting.FakeClock }

// New is a clock that begins at a time.
func New(at time.Time) *Clock { return &Clock{clocktesting.NewFakeClock(at)} }

// Now implements clock.PassiveClock. No two times are equal, so that pods are queued in the order in which they came.
func (c *Clock) Now() time.Time {
	c.Step(time.Microsecond)
	return c.FakeClock.Now()
}

// Current is the time, which stays as it is.
func (c *Clock) Current() time.Time { return c.FakeClock.Now() }
