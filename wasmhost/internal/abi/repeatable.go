package abi

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"
)

// standsStill is the time of a repeatable instance: that at which wazero's own clock starts.
var standsStill = time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)

// repeatable gives an instance a clock that stands still, and random numbers that are the same
// in each call. Go's runtime does not start at zero nanoseconds.
func (i *Instance) repeatable(config wazero.ModuleConfig) wazero.ModuleConfig {
	wall := func() (int64, int32) { return standsStill.Unix(), 0 }
	mono := func() int64 { return int64(time.Second) }
	resolution := sys.ClockResolution(time.Millisecond)
	return config.WithWalltime(wall, resolution).WithNanotime(mono, resolution).WithRandSource(&pieces{of: i, from: &sameNumbers{of: i}})
}

// pieces are random numbers in short pieces: a guest may ask for as many as its memory holds.
type pieces struct {
	of   *Instance
	from io.Reader
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	if p.of.Interrupted() {
		return 0, errInterrupted
	}
	return p.from.Read(b[:min(len(b), pageSize)])
}

// sameNumbers are random numbers that begin again with each call of an instance.
type sameNumbers struct {
	of      *Instance
	call    uint64
	numbers *rand.ChaCha8
}

// Read implements io.Reader.
func (s *sameNumbers) Read(b []byte) (int, error) {
	if s.numbers == nil || s.call != s.of.calls { // which is written on this goroutine
		s.numbers = rand.NewChaCha8([32]byte{})
		s.call = s.of.calls
	}
	return s.numbers.Read(b)
}
