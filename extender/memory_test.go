package extender

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// released checks that a request gives all its memory back.
func released(t *testing.T, s *share) {
	t.Helper()
	s.release()
	if used := s.used.Load(); used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
}

func TestExtenderReadsABodyWholeHoweverItArrives(t *testing.T) {
	all := newMemory(64 << 20)
	for _, size := range []int64{0, 1, 4095, 4096, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 5 << 20, 8 << 20} {
		want := []byte(strings.Repeat("0123456789abcdef", int(size/16)+1)[:size])
		for _, limit := range []int64{size, 8 << 20} {
			for name, source := range map[string]io.Reader{
				"whole": bytes.NewReader(want), "halved": iotest.HalfReader(bytes.NewReader(want)),
				"with the end": iotest.DataErrReader(bytes.NewReader(want)),
			} {
				s := &share{memory: all}
				body, err := s.read(source, limit)
				if err != nil || !bytes.Equal(body, want) {
					t.Errorf("%d bytes %s, limit %d: read %d others, %v", size, name, limit, len(body), err)
				}
				released(t, s)
			}
		}
	}
}

func TestExtenderBoundsMemory(t *testing.T) {
	all := newMemory(3 << 20)
	var tooMuch memoryError
	first, second := &share{memory: all}, &share{memory: all}
	if _, err := first.read(bytes.NewReader(make([]byte, 5<<20)), 5<<20); !errors.As(err, &tooMuch) {
		t.Errorf("a body that is larger than all memory: got %v", err)
	}
	released(t, first)
	if _, err := first.read(bytes.NewReader(make([]byte, 500<<10)), 500<<10); err != nil {
		t.Errorf("a body for which there is memory: %v", err)
	}
	if err := first.take(2 << 20); err != nil {
		t.Errorf("what is built from it: %v", err)
	}
	if _, err := second.read(bytes.NewReader(make([]byte, 500<<10)), 500<<10); !errors.Is(err, errBusy) {
		t.Errorf("more than there is memory left: got %v", err)
	}
	second.release()
	if err := first.take(2 << 20); !errors.As(err, &tooMuch) {
		t.Errorf("more than all memory for what is built: got %v", err)
	}
	released(t, first)
}
