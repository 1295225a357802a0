package wasmhost

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

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
	if got := strings.Join(h.take(), ""); got != "event  Rea; son Action: "+note+", of /////, /////" {
		t.Errorf("got %q", got)
	}
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
	if reason != "node(s) for which there is no room in the pod's status: the guest gives too many different reasons" {
		t.Errorf("the last reason is %q", reason)
	}
}

func TestGuestThatLogsTooMuchLosesLinesThatAreCounted(t *testing.T) {
	pl := openWith(t, "echo_klog", Args{GuestConfig: strings.Repeat("a", 4000)}, nil)
	log := logged(t, func() {
		for range 200 { // each logs three lines
			schedule(t.Context(), pl, pod("web"), "0")
		}
		if err := pl.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
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
