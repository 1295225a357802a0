package abi

import (
	"io"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// The clock of a repeatable instance stands still, at the time at which wazero's own clock starts.
var standsStill = time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)

const clockResolution = sys.ClockResolution(time.Millisecond)

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
	return p.from.Read(b[:min(len(b), abi.PageSize)])
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
