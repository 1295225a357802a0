package body_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/extender/body"
)

func never() { panic("nobody needs the memory") }

func empty(t *testing.T, l *body.Limits) {
	t.Helper()
	if l.Used() != 0 {
		t.Errorf("%d bytes are still taken", l.Used())
	}
}

func TestABodyArrivesWholeHoweverItIsCut(t *testing.T) {
	l := body.NewLimits(8<<20, 64<<20)
	for _, size := range []int{0, 1, 4095, 4096, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 5 << 20, 8 << 20} {
		want := []byte(strings.Repeat("0123456789abcdef", size/16+1)[:size])
		for _, announced := range []int64{-1, int64(size)} {
			for name, source := range map[string]io.Reader{
				"whole": bytes.NewReader(want), "halved": iotest.HalfReader(bytes.NewReader(want)),
				"with the end": iotest.DataErrReader(bytes.NewReader(want)),
			} {
				b, err := l.Read(source, announced, never)
				if err != nil {
					t.Fatalf("%d bytes %s, announced %d: %v", size, name, announced, err)
				}
				if !bytes.Equal(b.Bytes(), want) {
					t.Errorf("%d bytes %s, announced %d: something else was read", size, name, announced)
				}
				b.Release()
			}
		}
	}
	empty(t, l)
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	var tooLarge *body.TooLargeError
	l := body.NewLimits(100, 64<<20)
	if _, err := l.Read(iotest.ErrReader(errors.New("was read")), 101, never); !errors.As(err, &tooLarge) || tooLarge.Memory {
		t.Errorf("announced: got %v", err)
	}
	if _, err := l.Read(strings.NewReader(strings.Repeat("x", 101)), -1, never); !errors.As(err, &tooLarge) || tooLarge.Max != 100 {
		t.Errorf("not announced: got %v", err)
	}
	b, err := l.Read(strings.NewReader(strings.Repeat("x", 100)), -1, never)
	if err != nil {
		t.Fatalf("just not too large: got %v", err)
	}
	b.Release()
	empty(t, l)
}

func TestABodyThatIsCutOffSaysSo(t *testing.T) {
	l := body.NewLimits(8<<20, 64<<20)
	lost := errors.New("lost")
	if _, err := l.Read(io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), iotest.ErrReader(lost)), 6<<20, never); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	empty(t, l)
}

// slow is a client that has announced much and sent a little.
type slow struct {
	*io.PipeWriter
	cut  chan struct{}
	done chan error // what Read returned
}

func begin(t *testing.T, l *body.Limits, announced int64, sent int) *slow {
	source, client := io.Pipe()
	s := &slow{PipeWriter: client, cut: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		_, err := l.Read(source, announced, func() {
			close(s.cut)
			source.CloseWithError(errors.New("cut"))
		})
		s.done <- err
	}()
	if _, err := client.Write(make([]byte, sent)); err != nil {
		t.Fatal(err)
	}
	return s
}

// end waits for the result of the request.
func (s *slow) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the request did not end in a minute")
		return nil
	}
}

func TestMemoryIsGivenOnlyForWhatArrived(t *testing.T) {
	l := body.NewLimits(64<<20, 64<<20)
	for _, sent := range []int{1, 100 << 10, 3 << 20} {
		s := begin(t, l, 64<<20, sent)
		if got, most := l.Used(), int64(8*sent+32<<10); got > most {
			t.Errorf("%d bytes take %d, want at most %d", sent, got, most)
		}
		s.Close()
		if err := s.end(t); err != nil {
			t.Error(err)
		}
		l = body.NewLimits(64<<20, 64<<20)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := body.NewLimits(64<<20, 3<<20)
	var tooMuch *body.TooLargeError
	if _, err := l.Read(bytes.NewReader(make([]byte, 5<<20)), 5<<20, never); !errors.As(err, &tooMuch) || !tooMuch.Memory {
		t.Errorf("a body for which there will never be memory: got %v", err)
	}
	b, err := l.Read(bytes.NewReader(make([]byte, 500<<10)), 500<<10, never)
	if err != nil {
		t.Fatalf("as much as there is memory: %v", err)
	}
	if err := b.Take(2 << 20); err != nil {
		t.Errorf("what is made of it, as much as there is memory: %v", err)
	}
	if _, err := l.Read(bytes.NewReader(make([]byte, 500<<10)), 500<<10, never); !errors.Is(err, body.ErrBusy) {
		t.Errorf("more than there is memory left: got %v", err)
	}
	if err := b.Take(2 << 20); !errors.As(err, &tooMuch) || !tooMuch.Memory {
		t.Errorf("what is made of it, and there will never be memory for: got %v", err)
	}
	b.Release()
	empty(t, l)
}

// TestWhoIsSlowMakesRoom for others, those first that began first, as many as
// it takes.
func TestWhoIsSlowMakesRoom(t *testing.T) {
	l := body.NewLimits(64<<20, 4<<20)
	first := begin(t, l, 64<<20, 100<<10)  // holds 272 KiB
	second := begin(t, l, 64<<20, 500<<10) // holds 2,064
	b, err := l.Read(bytes.NewReader(make([]byte, 500<<10)), 500<<10, never)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // 1,232 are left
		if err = b.Take(1300 << 10); err == nil {
			break
		}
		if !errors.Is(err, body.ErrBusy) || time.Now().After(deadline) {
			t.Fatalf("beside two who are slow: %v", err)
		}
	}
	if err := first.end(t); !errors.Is(err, body.ErrShed) {
		t.Errorf("the slowest gets %v", err)
	}
	select {
	case <-second.cut:
		t.Error("both were cut, where one was enough")
	default:
	}
	second.Close()
	if err := second.end(t); err != nil {
		t.Errorf("the other one: %v", err)
	}
}
