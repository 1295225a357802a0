package snapshot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestWhatIsSentIsBounded(t *testing.T) {
	for name, tt := range map[string]struct{ file, want string }{
		"bytes":       {strings.Repeat(" ", MaxSent) + "{}", "more than 64Mi"},
		"elements":    {`{"pods":[{"metadata":{"name":"a"},"spec":{"containers":[` + strings.Repeat("{},", 1<<20) + `{}]}}]}`, "more than 1048576 elements"},
		"anything":    {`{"schedulerConfig":{"a":[` + strings.Repeat("0,", 1<<20) + `0]}}`, "more than 1048576 elements"},
		"YAML":        {"pods:\n" + strings.Repeat("- {}\n", 1<<20), "more than 4Mi of YAML in one piece"},
		"compression": {compressed(t, strings.Repeat(" ", 2*MaxSent)+"{}"), "more than 64Mi"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ReadSent(strings.NewReader(tt.file))
			large, ok := err.(TooLarge)
			if !ok || !strings.Contains(large.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDocumentsCountAsElements(t *testing.T) {
	text := strings.Repeat(`{"kind":"A","apiVersion":"v1"}`, 3)
	for most, want := range map[int]string{3 * anObject: "", 3*anObject - 1: "more than 11 elements in lists is too much"} {
		_, _, err := newReading(bounds{bytes: 1 << 20, elements: most}).read([]File{{Reader: strings.NewReader(text)}})
		if (err != nil) != (want != "") || want != "" && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("at most %d elements: %v", most, err)
		}
	}
}

func TestWhatIsReadFromAFileIsBounded(t *testing.T) {
	file := compressed(t, "nodes:\n- metadata: {name: a}\n"+strings.Repeat("\n", 1<<20))
	s, _, err := ReadWithin(t.Context(), 2<<20, File{Reader: strings.NewReader(file)})
	if err != nil || len(s.Nodes) != 1 {
		t.Errorf("within the bound: %v", err)
	}
	_, _, err = ReadWithin(t.Context(), 1<<20, File{Reader: strings.NewReader(file)})
	large, ok := err.(TooLarge)
	if !ok || large.Error() != "more than 1Mi is too much to be read: --max-size allows more" {
		t.Errorf("got %v", err)
	}
}

// stuck never has anything to read.
type stuck struct{ asked chan bool }

func (s stuck) Read([]byte) (int, error) {
	s.asked <- true
	select {}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	from, ended := stuck{make(chan bool)}, make(chan error, 1)
	go func() {
		_, _, err := ReadWithin(ctx, 1<<20, File{Reader: from})
		ended <- err
	}()
	<-from.asked
	cancel()
	if err := testkit.EventuallyReceives(t, "the end of the reading", ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
