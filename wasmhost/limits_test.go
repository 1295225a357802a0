package wasmhost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
)

func TestGuestThatWantsTooMuchMemoryIsReplaced(t *testing.T) {
	for _, guest := range []string{"hungry", "hungry_undeclared"} {
		pl := openWith(t, guest, Args{MemoryLimit: quantity(64 << 20), Instances: 1}, nil)
		got := schedule(t.Context(), pl, pod("hungry"), "m", "m", "m", "m", "m")
		for i, want := range []fwk.Code{fwk.Success, fwk.Success, fwk.Success, fwk.Error, fwk.Error} {
			if got[i].Code() != want {
				t.Errorf("%s, call %d: %v, want %v", guest, i, got[i], want)
			}
		}
		got = schedule(t.Context(), pl, pod("next"), "m", "n")
		if !got[0].IsSuccess() || !got[1].IsSuccess() {
			t.Errorf("%s, the next pod: %v", guest, got)
		}
	}
}

// Wazero would refuse the second first, which declares no most, in words that name no arg.
func TestGuestThatNeedsTooMuchMemoryAtOnceDoesNotStart(t *testing.T) {
	for guestURL, limit := range map[string]int64{fileURLOf(mirrorGuest): 128 << 10, "file://../static/regex_v2.wasm": 1 << 20} {
		err := startError(t, Args{GuestURL: guestURL, MemoryLimit: quantity(limit)})
		want := fmt.Sprint("bytes of memory at once, but memoryLimit is ", limit)
		if !strings.HasSuffix(message(err), want) {
			t.Errorf("got %v, want …%s", err, want)
		}
	}
}

func TestLimitsAtTheirExtremes(t *testing.T) {
	pl := openWith(t, "all_pages", Args{
		GuestSizeLimit: quantity(MaxGuestSize), MemoryLimit: quantity(MaxMemory), AnswersLimit: quantity(math.MaxInt64), CallTimeout: Timeout{math.MaxInt64},
	}, nil)
	for _, status := range schedule(t.Context(), pl, pod("web"), "n", "m") {
		if !status.IsSuccess() {
			t.Error(status)
		}
	}
}
