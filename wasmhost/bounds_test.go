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

func TestGuestHandsOverABoundedAmount(t *testing.T) {
	const event = `{"Reason":"Generous"}`
	for _, tt := range []struct {
		name, function string
		times, size    int
		text, want     string // "" is Success
	}{
		{"as many names as any cluster has nodes", "n", 1, 15_000 * 254, strings.Repeat("a", 253) + "\x00", ""},
		{"200 MiB of names", "n", 1, 200 << 20, "a\x00", "result.node_names: 209715200 bytes, and at most 4194304 are taken"},
		{"too many names", "n", 1, 4 << 20, "a\x00", "result.node_names: more than 65536 names"},
		{"names again and again", "n", 1000, 1 << 10, "a\x00", ""},
		{"too much of scores", "s", 1, 4<<20 + 1, `"a":1,`, "result.normalized_score_list: 4194305 bytes, and at most 4194304 are taken"},
		{"too many scores", "s", 1, 4 << 20, `"a":1,`, "result.normalized_score_list: more than 65536 scores"},
		{"a nominated node with too long a name", "m", 1, 254, "a", "result.nominated_node_name: 254 bytes, and at most 253 are taken"},
		{"the name of a node that is asked about", "o", 1, 254, "a", "node: 254 bytes, and at most 253 are taken"},
		{"events that a pod may cause", "e", 100, len(event), event, ""},
		{"too many events", "e", 101, len(event), event, "handle.eventrecorder.eventf: more than 100 events in one attempt"},
		{"too long an event", "e", 1, 16<<10 + 1, " ", "handle.eventrecorder.eventf: 16385 bytes, and at most 16384 are taken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pl := generous(t, aHandle(), tt.function, tt.times, tt.size, tt.text)
			_, status := preFilter(t.Context(), pl, framework.NewCycleState(), pod("web"))
			if tt.want == "" && !status.IsSuccess() {
				t.Errorf("got %.200v", status)
			}
			want := "wasm: prefilter error: " + tt.want + " (in "
			if tt.want != "" && (status.Code() != fwk.Error || !strings.HasPrefix(status.Message(), want)) {
				t.Errorf("got %v %.200q, want %s", status.Code(), status.Message(), want)
			}
		})
	}
}

func TestGuestNamesABoundedNumberOfEvents(t *testing.T) {
	err := startError(t, Args{GuestURL: fileURLOf("generous"), GuestConfig: "c1,2000:\x00\x00\x00\x00\x01\x00\x00\x00"})
	want := "wasm: enqueue error: result.cluster_events: 2000 bytes, and at most 1024 are taken (in "
	if !strings.Contains(message(err), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// forged is what must not reach a terminal, a log or an event as it is.
const forged = "no\r\nE1122 00:00:00 forged\x1b[2J\x00\xff"

// oneLine is forged as it may be shown.
const oneLine = "no; E1122 00:00:00 forged[2J\uFFFD"

func TestReasonIsOneLine(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		size       int
		want       string
	}{
		{"with line breaks and control characters", forged, len(forged), oneLine},
		{"16 MiB long", "a", 16 << 20, strings.Repeat("a", 8<<10-len("…")) + "…"},
	} {
		pl := generous(t, aHandle(), "r", 1, tt.size, tt.text)
		_, status := preFilter(t.Context(), pl, framework.NewCycleState(), pod("web"))
		if status.Message() != tt.want {
			t.Errorf("%s: PreFilter gave %d bytes, %.100q", tt.name, len(status.Message()), status.Message())
		}
		got := schedule(t.Context(), pl, pod("web"), "n")[0]
		if got.Message() != tt.want || got.Code() != fwk.Unschedulable {
			t.Errorf("%s: Filter gave %d bytes, %.100q", tt.name, len(got.Message()), got.Message())
		}
	}
}

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
	if len(h.events) != 1 || h.events[0] != "Rea; son, Action, "+note {
		t.Errorf("got %q", h.events)
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
