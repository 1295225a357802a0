package engine

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Progress gets how far something is. Of is 0 where that is not known.
type Progress func(step string, done, of int)

// Worst tries something with one seed after the other, beginning with that of the options, and returns the worst result. Each
// run has a cluster of its own, and count distinguishes runs. Fewer than one run are one.
func Worst[R any](o Options, runs int, progress Progress, try func(Options, Progress) (R, error), count func(R) int,
	worse func(one, than R) bool,
) (worst R, all []report.Run, err error) {
	runs = max(1, runs)
	for i := range runs {
		this := o
		this.Seed += uint64(i)
		if i < runs-1 {
			this.Cluster = o.Cluster.DeepCopy()
		}
		result, err := try(this, func(step string, done, of int) {
			if runs > 1 {
				step = fmt.Sprintf("run %d of %d: %s", i+1, runs, step)
			}
			if progress != nil {
				progress(step, done, of)
			}
		})
		if err != nil {
			return worst, nil, err
		}
		if i == 0 || worse(result, worst) {
			worst = result
		}
		all = append(all, report.Run{Seed: this.Seed, Count: count(result)})
	}
	return worst, all, nil
}
