package engine

import (
	"fmt"

	"wasmkwokwizardry.io/regex-scheduling/whatif/words"
)

// Progress gets how far something is. Of is 0 where that is not known.
type Progress func(step string, done, of int)

// Repeat tries something with one seed after the other, beginning with that of the options.
// Each run has a cluster of its own, and counts what distinguishes runs. Fewer than one
// run are one.
func (o Options) Repeat(runs int, progress Progress, try func(Options, Progress) (count int, err error)) ([]words.Run, error) {
	runs = max(1, runs)
	all := make([]words.Run, runs)
	for i := range all {
		this := o
		if this.Seed += uint64(i); i < runs-1 {
			this.Cluster = o.Cluster.DeepCopy()
		}
		report := func(step string, done, of int) {
			if runs > 1 {
				step = fmt.Sprintf("run %d of %d: %s", i+1, runs, step)
			}
			if progress != nil {
				progress(step, done, of)
			}
		}
		count, err := try(this, report)
		if err != nil {
			return nil, err
		}
		all[i] = words.Run{Seed: this.Seed, Count: count}
	}
	return all, nil
}
