// Package start measures what it takes until a guest can serve its first pod:
// the host compiles and instantiates it, and asks which events it waits for.
package start

import (
	"context"
	"fmt"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
	"wasmkwokwizardry.io/regex-scheduling/bench/sample"
	"wasmkwokwizardry.io/regex-scheduling/bench/work"
)

// Result is the start of one guest.
type Result struct {
	Door   string
	Size   int           // of the .wasm, in bytes
	Memory int           // of the guest once it has started, in bytes
	Time   sample.Sample // ns
}

// Run starts the guest of each door that has one, in turns.
func Run(ctx context.Context, doors []door.Door, rounds int, say func(what string, done float64)) ([]Result, error) {
	var results []Result
	for _, d := range doors {
		if d.Wasm != nil {
			results = append(results, Result{Door: d.Name, Size: len(d.Wasm)})
		}
	}
	cluster := work.NewCluster(1)
	for round := range rounds {
		say("starting the guests", float64(round)/float64(rounds))
		i := 0
		for _, d := range doors {
			if d.Wasm == nil {
				continue
			}
			if err := once(ctx, d, cluster, &results[i]); err != nil {
				return nil, fmt.Errorf("door %s: %w", d.Name, err)
			}
			i++
		}
	}
	return results, nil
}

func once(ctx context.Context, d door.Door, cluster *work.Cluster, r *Result) error {
	began := time.Now()
	s, err := d.Open(ctx, cluster)
	if err != nil {
		return err
	}
	r.Time = append(r.Time, float64(time.Since(began)))
	r.Memory = s.(door.Guest).Memory()
	return s.Close()
}
