package kubelets

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
)

const (
	// runsFor is the annotation of a pod that says how long it runs, as "90s" or
	// "5m". It is the one that KWOK's stage of completion reads.
	runsFor = "pod-complete.stage.kwok.x-k8s.io/delay"
	// exitCode is the annotation that says with what its containers exit then. Any
	// but 0 makes it fail.
	exitCode = "simulator.wasmkwokwizardry.io/exit-code"
)

// ending is how a pod comes to its end.
type ending struct {
	after time.Duration // from its start
	code  int32
}

// endingOf is that of pods that say when, and of those of jobs, which would
// otherwise never be complete: they end at once. It is nil for all others.
func endingOf(pod *v1.Pod) (*ending, error) {
	text, says := pod.Annotations[runsFor]
	if !says && !isOfJob(pod) {
		return nil, nil
	}
	e := &ending{}
	var err error
	if says {
		if e.after, err = time.ParseDuration(text); err != nil || e.after < 0 {
			return nil, fmt.Errorf("annotation %s: %q is no time to run: write it as 90s or 5m", runsFor, text)
		}
	}
	if text, ok := pod.Annotations[exitCode]; ok {
		code, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %q is no exit code: write a number from 0 to 255", exitCode, text)
		}
		e.code = int32(code)
	}
	return e, nil
}

// wait is how long a pod that runs has yet to go.
func (e *ending) wait(pod *v1.Pod, now time.Time) time.Duration {
	if pod.Status.StartTime == nil {
		return 0
	}
	return pod.Status.StartTime.Add(e.after).Sub(now)
}
