package wasmhost

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

func TestGuestThatWantsTooMuchMemoryIsReplaced(t *testing.T) {
	for _, guest := range []string{"hungry", "hungry_undeclared"} {
		pl := openWith(t, guest, Args{MemoryLimit: quantity(64 << 20), Instances: 1}, nil)
		got := schedule(t.Context(), pl, pod("hungry"), "m", "m", "m", "m", "m")
		for i, want := range []fwk.Code{fwk.Success, fwk.Success, fwk.Success, fwk.Error, fwk.Error} {
			testkit.Equal(t, got[i].Code(), want, "%s, call %d: %v", guest, i, got[i])
		}
		for _, status := range schedule(t.Context(), pl, pod("next"), "m", "n") {
			testkit.Succeeds(t, status)
		}
	}
}

// Wazero would refuse the second first, which declares no most, in words that name no arg.
func TestGuestThatNeedsTooMuchMemoryAtOnceDoesNotStart(t *testing.T) {
	for guestURL, limit := range map[string]int64{fileURLOf(mirrorGuest): 128 << 10, "file://../static/regex_v2.wasm": 1 << 20} {
		err := startError(t, Args{GuestURL: guestURL, MemoryLimit: quantity(limit)})
		want := fmt.Sprint("bytes of memory at once, but memoryLimit is ", limit)
		if !strings.HasSuffix(testkit.Message(err), want) {
			t.Errorf("got %v, want …%s", err, want)
		}
	}
}

func TestLimitsAtTheirExtremes(t *testing.T) {
	pl := openWith(t, "all_pages", Args{
		GuestSizeLimit: quantity(MaxGuestSize), MemoryLimit: quantity(MaxMemory), AnswersLimit: quantity(math.MaxInt64), CallTimeout: Timeout{math.MaxInt64},
	}, nil)
	for _, status := range schedule(t.Context(), pl, pod("web"), "n", "m") {
		testkit.Succeeds(t, status)
	}
}

// A number that is new has to be put somewhere on the page.
func TestLimitsAreOnOnePage(t *testing.T) {
	page := testkit.ReadFile(t, "limits.go")
	constant := regexp.MustCompile(`(?m)^(?:const |\t)(\w+) += (?:.*\b[0-9]+|time\.\w+)(?:[ _].*)?$`)
	found := 0
	for _, folder := range []string{".", "internal/abi", "internal/answers", "internal/compiler", "../fetch", "../fetch/internal/signature"} {
		files, _ := filepath.Glob(folder + "/*.go")
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text := testkit.ReadFile(t, file)
			for _, match := range constant.FindAllSubmatch(text, -1) {
				found++
				if !strings.HasPrefix(string(match[1]), "status") && !regexp.MustCompile(`\b`+string(match[1])+`\b`).Match(page) {
					t.Errorf("%s: the constant %s is not in limits.go: is it of the ABI, does it protect, or may one tune it?", file, match[1])
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d constants are found", found)
	}
}

// A tenant's pods can make each instance grow, until they hold all that the guest may hold.
func TestPodsThatNeedMuchMemoryCostOthersNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	pl := openWith(t, "hoards", Args{FailurePolicy: FailurePolicyIgnore}, nil)
	filtered := func(p *v1.Pod) (rejected int) {
		state := framework.NewCycleState()
		preFilter(t.Context(), pl, state, p)
		var all sync.WaitGroup
		statuses := make([]*fwk.Status, 16)
		for i := range statuses {
			all.Go(func() { statuses[i] = pl.(fwk.FilterPlugin).Filter(t.Context(), state, p, node(fmt.Sprint("n", i))) })
		}
		all.Wait()
		for _, status := range statuses {
			if status.Code() == fwk.Unschedulable {
				rejected++
			}
		}
		return rejected
	}
	for _, size := range []int{260_000, 130_000, 65_000, 32_000, 16_000, 8000, 4000} {
		for range 3 {
			large := pod("large")
			large.Annotations = map[string]string{"note": strings.Repeat("x", size)}
			filtered(large)
		}
	}
	for range 5 {
		testkit.Equal(t, filtered(pod("small")), 16, "nodes of 16 that are rejected")
	}
}

// generous starts a guest that hands over bytes, a text repeated.
func generous(t *testing.T, h *handle, function string, times, size int, text string) fwk.Plugin {
	t.Helper()
	args := Args{GuestConfig: fmt.Sprintf("%s%d,%d:%s", function, times, size, text), CallTimeout: Timeout{time.Minute}} // 200 MiB take long on a busy machine
	return openWith(t, "generous", args, h)
}

// forged is what must not reach a terminal, a log or an event as it is.
const forged = "no\r\nE1122 00:00:00 forged\x1b[2J\x00\xff"

// oneLine is forged as it may be shown.
const oneLine = "no; E1122 00:00:00 forged[2J\uFFFD"

func TestGuestLogsOneLine(t *testing.T) {
	for function, want := range map[string]string{"l": oneLine, "k": "no; E1122 00:00:00 forged[2J="} {
		pl := generous(t, aHandle(), function, 1, len(forged), forged)
		log := logged(t, func() { preFilter(t.Context(), pl, framework.NewCycleState(), pod("web")) })
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, want) {
			t.Errorf("%s: logged %q", function, log)
		}
		pl = generous(t, aHandle(), function, 1, 16<<20, "a\x00")
		log = logged(t, func() { preFilter(t.Context(), pl, framework.NewCycleState(), pod("web")) })
		if len(log) > 64<<10 || !strings.Contains(log, "aa") && !strings.Contains(log, `a="a"`) {
			t.Errorf("%s: logged %d bytes: %.100q", function, len(log), log)
		}
	}
}

func TestEventIsOneLine(t *testing.T) {
	h := aHandle()
	event := `{"Reason":"Rea\nson","Action":"Ac\u001btion","Note":"first\nsecond` + strings.Repeat("a", 2000) + `"}`
	preFilter(t.Context(), generous(t, h, "e", 1, len(event), event), framework.NewCycleState(), pod("web"))
	note := "first; second" + strings.Repeat("a", 1024-len("first; second…")) + "…"
	testkit.Equal(t, h.take(), []string{"event  Rea; son Action: " + note + ", of /////, /////"}, "what the guest has done")
}

// A pod's status has all reasons, and a status beyond 1.5 MiB cannot be stored.
func TestPodsStatusHasRoomForAllReasons(t *testing.T) {
	var nodes []*v1.Node
	for i := range 5000 {
		nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%05d-%s", i, strings.Repeat("n", 240))}})
	}
	h := &handle{Handle: snapshot.Of(nodes...)}
	pl, state, p := mirror(t, h, "c"), framework.NewCycleState(), pod("web") // the reason is the node's name in hexadecimal
	preFilter(t.Context(), pl, state, p)
	total, distinct := 0, map[string]bool{}
	for i, node := range h.Nodes {
		status := pl.Filter(t.Context(), state, p, node)
		if !status.IsRejected() {
			t.Fatalf("node %d: %v", i, status)
		}
		reason := status.Message()
		if !distinct[reason] {
			distinct[reason] = true
			total += len(reason)
		}
	}
	if total > 520<<10 || len(distinct) < 1000 {
		t.Errorf("%d different reasons, %d bytes", len(distinct), total)
	}
	reason := pl.Filter(t.Context(), state, p, h.Nodes[4999]).Message()
	testkit.Equal(t, reason, "node(s) for which there is no room in the pod's status: the guest gives too many different reasons", "the last reason")
}

func TestGuestThatLogsTooMuchLosesLinesThatAreCounted(t *testing.T) {
	pl := openWith(t, "echo_klog", Args{GuestConfig: strings.Repeat("a", 4000)}, nil)
	log := logged(t, func() {
		for range 200 { // each logs three lines
			schedule(t.Context(), pl, pod("web"), "0")
		}
		testkit.Must(t, pl.(io.Closer).Close())
	})
	lines := strings.Count(log, "aaaa ") + strings.Count(log, "aaaa\n") + strings.Count(log, "aaaa\"")
	if len(log) > maxLogged+10_000 || lines < 250 {
		t.Errorf("%d bytes in %d lines", len(log), lines)
	}
	said := regexp.MustCompile(`Dropped log lines .* lines=(\d+) `).FindStringSubmatch(log)
	if said == nil || said[1] != "343" {
		t.Errorf("of 600 lines %d are there; it says %q", lines, said)
	}
}
