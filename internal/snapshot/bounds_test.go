package snapshot

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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
	for documents, want := range map[int]string{fewElements / anObject: "", fewElements/anObject + 1: "more than 1048576 elements in lists is too much"} {
		_, _, err := Read(strings.NewReader(`{"nodes":null}` + strings.Repeat(`{"kind":"A","apiVersion":"v1"}`, documents-1)))
		if (err != nil) != (want != "") || want != "" && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d documents: %v", documents, err)
		}
	}
}

// TestElementsFollowFromTheSizeOfAFile reads files that have far more memory than bytes: 14 KB of gzip took gigabytes.
func TestElementsFollowFromTheSizeOfAFile(t *testing.T) {
	for name, around := range map[string][2]string{
		"documents":                 {"", ""},
		"items of a list":           {`{"apiVersion":"v1","kind":"List","items":[`, `{}]}`},
		"items of a list of pods":   {`{"apiVersion":"v1","kind":"PodList","items":[`, `{}]}`},
		"pods of an export":         {`{"pods":[`, `{}]}`},
		"an array":                  {`[`, `{}]`},
		"containers of a pod":       {`{"pods":[{"metadata":{"name":"a"},"spec":{"containers":[`, `{}]}}]}`},
		"a scheduler configuration": {`{"schedulerConfig":[`, `{}]}`},
	} {
		one := "{},"
		if around[0] == "" {
			one = "{}"
		}
		file := compressed(t, around[0]+strings.Repeat(one, fewElements+1)+around[1])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := ReadWithin(t.Context(), DefaultMaxSize, File{Reader: strings.NewReader(file)})
		runtime.ReadMemStats(&after)
		large := TooLarge{}
		if !errors.As(err, &large) {
			t.Errorf("%s: got %v", name, err)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 1024 {
			t.Errorf("%s: %d MiB were allocated for %d bytes", name, mib, len(file))
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

// TestQuantitiesOutOfRangeAreNotRead: Kubernetes' parser takes minutes for the first, and hours of others' sums with the second.
func TestQuantitiesOutOfRangeAreNotRead(t *testing.T) {
	const pod = `{"pods":[{"metadata":{"name":"a","labels":{"commit":"7e1234567"}},"spec":{"containers":[{"name":"c"%s}]}}],"nodes":[{"metadata":{"name":"n"},"status":{"capacity":{"cpu":%s}}}]}`
	for quantity, want := range map[string]string{
		`"1e-99999999"`: "out of range", `"1e99999999"`: "out of range", `1E99999999`: "out of range", `"-1.5e+99999999"`: "out of range",
		`"1e3"`: "", `"4"`: "", `"1e-3"`: "",
	} {
		for _, file := range []string{
			fmt.Sprintf(pod, `,"resources":{"requests":{"cpu":`+quantity+`}}`, "1"),
			fmt.Sprintf(pod, `,"env":[{"name":"e","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":`+quantity+`}}}]`, "1"),
			fmt.Sprintf(pod, "", quantity),
		} {
			ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
			_, _, err := ReadWithin(ctx, DefaultMaxSize, File{Reader: strings.NewReader(file)})
			cancel()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v", file, err)
			}
		}
	}
}
