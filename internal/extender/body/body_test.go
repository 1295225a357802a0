package body_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/body"
)

func limits(each, all int64) *body.Limits {
	l := new(body.Limits)
	l.Set(each, all)
	return l
}

func TestABodyArrivesWholeHoweverItIsCut(t *testing.T) {
	l := limits(8<<20, 64<<20)
	for _, size := range []int{0, 1, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 5 << 20, 8 << 20} {
		want := []byte(strings.Repeat("0123456789abcdef", size/16+1)[:size])
		for name, source := range map[string]io.Reader{
			"whole": bytes.NewReader(want), "halved": iotest.HalfReader(bytes.NewReader(want)),
			"with the end": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			for _, announced := range []int64{-1, int64(size)} {
				if s, ok := source.(*bytes.Reader); ok {
					s.Reset(want)
				} else if announced == -1 {
					continue // the wrapped ones read only once
				}
				b, err := l.Read(source, announced)
				if err != nil {
					t.Fatalf("%d bytes %s, announced %d: %v", size, name, announced, err)
				}
				if err := b.Finish(); err != nil {
					t.Errorf("%d bytes %s, announced %d: %v", size, name, announced, err)
				}
				if !bytes.Equal(b.Wait(size+1), want) {
					t.Errorf("%d bytes %s, announced %d: something else was read", size, name, announced)
				}
				b.Release()
				b.Release()
			}
		}
	}
	if l.Used() != 0 {
		t.Errorf("%d bytes are still taken after all bodies were released", l.Used())
	}
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	var tooLarge *body.TooLargeError
	l := limits(100, 64<<20)
	if _, err := l.Read(iotest.ErrReader(errors.New("was read")), 101); !errors.As(err, &tooLarge) {
		t.Errorf("announced: got %v", err)
	}
	if _, err := l.Read(strings.NewReader(strings.Repeat("x", 101)), -1); !errors.As(err, &tooLarge) || tooLarge.Max != 100 {
		t.Errorf("not announced: got %v", err)
	}
	b, err := l.Read(strings.NewReader(strings.Repeat("x", 100)), -1)
	if err != nil {
		t.Fatalf("just not too large: got %v", err)
	}
	b.Release()
	if l.Used() != 0 {
		t.Errorf("%d bytes are still taken", l.Used())
	}
}

func TestMemoryIsBoundedAndGivenOnlyForWhatArrived(t *testing.T) {
	l := limits(64<<20, 3<<20)
	// A client announces 64 MiB and sends a byte.
	slow, announced := io.Pipe()
	failed := make(chan error)
	go func() {
		_, err := l.Read(slow, 64<<20)
		failed <- err
	}()
	if _, err := announced.Write([]byte{'x'}); err != nil {
		t.Fatal(err)
	}
	if l.Used() > 256<<10 {
		t.Errorf("one byte takes %d bytes", l.Used())
	}
	if _, err := l.Read(bytes.NewReader(make([]byte, 5<<20)), 5<<20); !errors.Is(err, body.ErrBusy) {
		t.Errorf("more than there is memory: got %v", err)
	}
	b, err := l.Read(bytes.NewReader(make([]byte, 500<<10)), 500<<10)
	if err != nil {
		t.Fatalf("as much as there is memory: %v", err)
	}
	b.Release()
	lost := errors.New("lost")
	announced.CloseWithError(lost)
	if err := <-failed; !errors.Is(err, lost) {
		t.Errorf("a lost client: got %v", err)
	}
	if l.Used() != 0 {
		t.Errorf("%d bytes are still taken", l.Used())
	}
}

func TestALargeBodyCanBeUsedWhileItArrives(t *testing.T) {
	l := limits(8<<20, 64<<20)
	source, client := io.Pipe()
	sent := make(chan struct{})
	rest := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = client.Write(bytes.Repeat([]byte("a"), 3<<20))
		<-rest
		_, _ = client.Write(bytes.Repeat([]byte("b"), 3<<20))
		client.Close()
	}()
	b, err := l.Read(source, 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Wait(3 << 20); len(got) != 3<<20 {
		t.Errorf("%d bytes are there, want the first half", len(got))
	}
	close(rest)
	if got := b.Wait(6<<20 + 1); len(got) != 6<<20 || got[len(got)-1] != 'b' {
		t.Errorf("%d bytes are there, want all", len(got))
	}
	b.Release()
	<-sent
}

func TestABodyThatIsCutOffSaysSo(t *testing.T) {
	l := limits(8<<20, 64<<20)
	lost := errors.New("lost")
	source := io.MultiReader(bytes.NewReader(make([]byte, 3<<20)), iotest.ErrReader(lost))
	b, err := l.Read(source, 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	b.Release()
	if l.Used() != 0 {
		t.Errorf("%d bytes are still taken", l.Used())
	}
}
