package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// readSnapshot reads the file of --from, and says what of it is left out.
func readSnapshot(o *options) (*simulator.Snapshot, error) {
	file, err := os.Open(o.from)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	snapshot, notices, err := simulator.ReadSnapshot(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, err)
	}
	if o.objectsOnly {
		snapshot.SchedulerConfig = nil
	}
	if snapshot.Source == nil {
		snapshot.Source = &simulator.Source{}
	}
	snapshot.Source.File = filepath.Base(o.from)
	o.notices = notices
	return snapshot, nil
}

// importFirst begins with a snapshot. What of it cannot be imported is listed, and
// does not keep the rest from being used.
func (o *options) importFirst(ctx context.Context, s *simulator.Simulator, in *simulator.Snapshot, progress func(done, of int), out io.Writer) error {
	err := s.ImportFirst(ctx, in, progress)
	refused := simulator.NotImported(nil)
	if err != nil && !errors.As(err, &refused) {
		if o.from != "" {
			err = fmt.Errorf("%s: %w", o.from, err)
		}
		if len(in.SchedulerConfig) > 0 {
			err = fmt.Errorf("%w (--objects-only leaves the file's scheduler configuration out)", err)
		}
		return err
	}
	fmt.Fprintf(out, "         this is %s\n", in.Source)
	tell(out, "not imported", refused)
	tell(out, "note", o.notices)
	return nil
}

// tell lists notices, a line for each.
func tell(out io.Writer, word string, notices []simulator.Notice) {
	for _, notice := range notices {
		fmt.Fprintf(out, "         %s: %s\n", word, notice)
	}
}
