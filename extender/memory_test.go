package extender

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestExtenderReadsABodyWholeHoweverItArrives(t *testing.T) {
	all := newMemory(64 << 20)
	for _, size := range []int64{0, 1, 4095, 4096, 65535, 65536, 65537, 1 << 20, 1<<20 + 1, 5 << 20, 8 << 20} {
		want := []byte(strings.Repeat("0123456789abcdef", int(size/16)+1)[:size])
		for _, length := range []int64{size, -1} {
			for name, source := range map[string]io.Reader{
				"whole": bytes.NewReader(want), "halved": iotest.HalfReader(bytes.NewReader(want)),
				"with the end": iotest.DataErrReader(bytes.NewReader(want)),
			} {
				s := &share{memory: all}
				body, err := s.read(source, length)
				if err != nil || !bytes.Equal(body, want) {
					t.Errorf("%d bytes %s, length %d: read %d others, %v", size, name, length, len(body), err)
				}
				s.release()
				testkit.Equal(t, s.used.Load(), 0, "bytes that are still taken")
			}
		}
	}
}
