package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/bench/door"
)

// chosen are the doors that were asked for, or all.
func (o options) chosen(all []door.Door) (some []door.Door, err error) {
	if o.doors == "" {
		return all, nil
	}
	for name := range strings.SplitSeq(o.doors, ",") {
		i := slices.IndexFunc(all, func(d door.Door) bool { return d.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no door %q", name)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// startProfile profiles until stop is called, if that was asked for.
func (o options) startProfile() (stop func() error, err error) {
	if o.profile == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(o.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
