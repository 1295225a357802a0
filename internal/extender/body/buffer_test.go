package body

import "testing"

func TestSparesAreFewAndFit(t *testing.T) {
	var s spare
	first := s.get(10 << 20)
	s.put(first)
	if s.get(4<<20) == first {
		t.Error("a buffer much too large is handed out")
	}
	if s.get(9<<20) != first {
		t.Error("a buffer that fits is not handed out")
	}
	for range 20 {
		s.put(s.get(10<<20 + len(s.buffers)<<22))
	}
	if s.bytes > maxSpare || len(s.buffers) == 0 {
		t.Errorf("%d spares have %d bytes, want some, and at most %d", len(s.buffers), s.bytes, maxSpare)
	}
	if s.clear(); s.bytes != 0 || len(s.buffers) != 0 {
		t.Errorf("%d spares are left", len(s.buffers))
	}
}
