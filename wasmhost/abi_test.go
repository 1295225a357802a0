package wasmhost

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

// everyHook is a plugin whose guest has every hook.
type everyHook interface {
	fwk.EnqueueExtensions
	fwk.PreFilterPlugin
	fwk.FilterPlugin
	fwk.PostFilterPlugin
	fwk.PreScorePlugin
	fwk.ScorePlugin
	fwk.ReservePlugin
	fwk.PermitPlugin
	fwk.PreBindPlugin
	fwk.BindPlugin
	fwk.PostBindPlugin
}

// mirror starts the guest that tells what a host function writes, by its letter.
func mirror(t *testing.T, h *handle, config string) everyHook {
	return openWith(t, "mirror", Args{GuestConfig: config}, h).(everyHook)
}

func aPod() *v1.Pod {
	p := pod("web")
	p.Namespace, p.Annotations = "default", map[string]string{"b": "2", "a": "1"}
	p.Spec.Containers = []v1.Container{{Name: "c", Image: "nginx"}}
	return p
}

func aHandle() *handle {
	h := snapshot.Of(
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "1"}}},
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	)
	a := h.Nodes[0].(*framework.NodeInfo)
	a.ImageStates = map[string]*fwk.ImageStateSummary{"nginx": {Size: 42, NumNodes: 2, Nodes: sets.New("a")}}
	return &handle{Handle: h, waiting: "waiting"}
}

// What the hooks are asked with, in each of them, the host says; in the others it has
// nothing to say.
func TestGuestGetsWhatItAsksFor(t *testing.T) {
	h, p, other := aHandle(), aPod(), pod("other")
	nodeA := h.Nodes[0]
	statuses := framework.NewDefaultNodeToStatus()
	statuses.Set("a", fwk.NewStatus(fwk.Unschedulable, "no"))
	statuses.Set("b", fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
	scores := fwk.NodeScoreList{{Name: "b", Score: 3}, {Name: "a", Score: -1}}
	podBytes, nodeBytes, none := marshalled(p), marshalled(nodeA.Node()), ""
	list := &v1.NodeList{Items: []v1.Node{*nodeA.Node(), *h.Nodes[1].Node()}}
	hooks := map[string]func(everyHook, fwk.CycleState) *fwk.Status{
		"prefilter": func(g everyHook, s fwk.CycleState) *fwk.Status {
			_, status := g.PreFilter(t.Context(), s, p, nil)
			return status
		},
		"addpod": func(g everyHook, s fwk.CycleState) *fwk.Status {
			return g.PreFilterExtensions().AddPod(t.Context(), s, p, podInfo(other), nodeA)
		},
		"removepod": func(g everyHook, s fwk.CycleState) *fwk.Status {
			return g.PreFilterExtensions().RemovePod(t.Context(), s, p, podInfo(other), nodeA)
		},
		"filter": func(g everyHook, s fwk.CycleState) *fwk.Status { return g.Filter(t.Context(), s, p, nodeA) },
		"postfilter": func(g everyHook, s fwk.CycleState) *fwk.Status {
			g.PreFilter(t.Context(), s, p, nil)
			_, status := g.PostFilter(t.Context(), s, p, statuses)
			return status
		},
		"prescore": func(g everyHook, s fwk.CycleState) *fwk.Status { return g.PreScore(t.Context(), s, p, h.Nodes) },
		"score": func(g everyHook, s fwk.CycleState) *fwk.Status {
			_, status := g.Score(t.Context(), s, p, nodeA)
			return status
		},
		"normalizescore": func(g everyHook, s fwk.CycleState) *fwk.Status {
			return g.ScoreExtensions().NormalizeScore(t.Context(), s, p, scores)
		},
		"reserve": func(g everyHook, s fwk.CycleState) *fwk.Status { return g.Reserve(t.Context(), s, p, "a") },
		"permit": func(g everyHook, s fwk.CycleState) *fwk.Status {
			status, _ := g.Permit(t.Context(), s, p, "a")
			return status
		},
		"prebind": func(g everyHook, s fwk.CycleState) *fwk.Status { return g.PreBind(t.Context(), s, p, "a") },
		"bind":    func(g everyHook, s fwk.CycleState) *fwk.Status { return g.Bind(t.Context(), s, p, "a") },
	}
	of := func(text string, hooks ...string) map[string]string {
		m := map[string]string{}
		for _, hook := range hooks {
			m[hook] = text
		}
		return m
	}
	for _, tt := range []struct {
		name, config string
		always       string
		but          map[string]string // by hook
	}{
		{name: "currentPod", config: "a", always: podBytes},
		{name: "currentPod without room", config: "A", always: "---"},
		{name: "targetPod", config: "b", always: none, but: of(marshalled(other), "addpod", "removepod")},
		{
			name: "currentNodeName", config: "c", always: none,
			but: of("a", "addpod", "removepod", "filter", "score", "reserve", "permit", "prebind", "bind"),
		},
		{name: "filteredNodeList", config: "d", always: "[]", but: of(`["a","b"]`, "prescore")},
		{name: "filteredNodeList without room", config: "D", always: "[]", but: of("---", "prescore")},
		{name: "nodeToStatusMap", config: "e", always: "{}", but: of(`{"a":2,"b":3}`, "postfilter")},
		{name: "nodeScoreList", config: "f", always: "{}", but: of(`{"a":-1,"b":3}`, "normalizescore")},
		{name: "get_config", config: "gsome config", always: "gsome config"},
		{name: "severity", config: "h", always: "0"},
		{name: "node", config: "ia", always: nodeBytes},
		{name: "node without room", config: "Ia", always: "---"},
		{name: "node that is not there", config: "inone", always: none},
		{name: "nodeList", config: "j", always: marshalled(list)},
		{name: "nodeImageStates", config: "ka", always: `{"nginx":{"Size":42,"NumNodes":2,"Nodes":{"a":{}}}}`},
		{name: "nodeImageStates of a node that is not there", config: "knone", always: "null"},
		{name: "a reason out of the memory", config: "t", always: "BUG: out of memory reading message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			guest := mirror(t, h, tt.config)
			for hook, call := range hooks {
				want, ok := tt.but[hook]
				if !ok {
					want = tt.always
				}
				status := call(guest, framework.NewCycleState())
				rejected := want != none || hook == "postfilter" // of which no Success is passed on
				if reflected(status) != want || status.IsRejected() != rejected {
					t.Errorf("%s: got %v %q, want %q", hook, status.Code(), reflected(status), want)
				}
			}
		})
	}
}

// reflected is what a mirror tells.
func reflected(status *fwk.Status) string {
	text, err := hex.DecodeString(status.Message())
	if err != nil {
		return status.Message() // in the host's own words
	}
	return string(text)
}

func marshalled(m interface{ Marshal() ([]byte, error) }) string {
	b, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	return string(b)
}

func podInfo(p *v1.Pod) fwk.PodInfo {
	info, err := framework.NewPodInfo(p)
	if err != nil {
		panic(err)
	}
	return info
}

// filter runs one cycle of a mirror over one node.
func filter(t *testing.T, guest everyHook) *fwk.Status {
	return guest.Filter(t.Context(), framework.NewCycleState(), aPod(), node("a"))
}

func TestWhatAGuestDoesOutOfItsMemoryIsATrap(t *testing.T) {
	for config, want := range map[string]string{
		"u": "wasm: prefilter error: node: out of the guest's memory: 1 bytes at 2147483647 (in k8s.io/api.node < $",
		"v": "wasm: prefilter error: the buffer for an object: out of the guest's memory: 130 bytes at 2147483647 (in k8s.io/scheduler.currentPod < $",
	} {
		got := filter(t, mirror(t, aHandle(), config))
		if got.Code() != fwk.Error || !strings.HasPrefix(got.Message(), want) {
			t.Errorf("%s: got %v %q, want %q", config, got.Code(), got.Message(), want)
		}
	}
}

func TestGuestActsOnTheScheduler(t *testing.T) {
	h := aHandle()
	if got := reflected(filter(t, mirror(t, h, "lwaiting"))); got != "\x01\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("reject_waiting_pod of one that waits: %q", got)
	}
	if got := reflected(filter(t, mirror(t, h, "lother"))); got != "\x00\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("reject_waiting_pod of one that does not: %q", got)
	}
	// The instance is made for Filter, so its PreFilter comes first, and is quiet.
	if len(h.rejected) != 2 || h.rejected[0] != "waiting" || h.rejected[1] != "other" {
		t.Errorf("rejected %q", h.rejected)
	}
	if got, want := reflected(filter(t, mirror(t, h, "mwaiting"))), marshalled(pod("waiting"))[:12]; got != want {
		t.Errorf("get_waiting_pod of one that waits: %q, want %q", got, want)
	}
	if got := reflected(filter(t, mirror(t, h, "mother"))); !strings.HasPrefix(got, "\x00\x00\x00\x00\x00\x00\x00\x00") {
		t.Errorf("get_waiting_pod of one that does not: %q", got)
	}
	event := `n{"RegardingReference":{"Kind":"Pod","APIVersion":"v1","Name":"web","Namespace":"default","UID":"u","ResourceVersion":"7"},` +
		`"RelatedReference":{},"Eventtype":"Normal","Reason":"Why","Action":"What","Note":"100% sure"}`
	if got := filter(t, mirror(t, h, event)); !got.IsSuccess() {
		t.Error(got)
	}
	if len(h.events) != 1 || h.events[0] != "v1 Pod default/web u 7,   /  , Normal, Why, What, 100% sure" {
		t.Errorf("events: %q", h.events)
	}
	got := filter(t, mirror(t, h, "n{"))
	if got.Code() != fwk.Error || !strings.Contains(got.Message(), "unexpected end of JSON input") {
		t.Errorf("an event that is no JSON: %v", got)
	}
}

func TestWhatAGuestAnswers(t *testing.T) {
	h, p := aHandle(), aPod()
	result, status := mirror(t, h, "qb\x00\x00a\x00unfinished").PreFilter(t.Context(), framework.NewCycleState(), p, nil)
	if !status.IsSuccess() || !result.NodeNames.Equal(sets.New("a", "b")) {
		t.Errorf("result.node_names: %v %v", result, status)
	}
	result, status = mirror(t, h, "w").PreFilter(t.Context(), framework.NewCycleState(), p, nil)
	if result != nil || status != nil {
		t.Errorf("without any: %v %v", result, status)
	}

	guest, state := mirror(t, h, "ra"), framework.NewCycleState()
	guest.PreFilter(t.Context(), state, p, nil)
	nominated, status := guest.PostFilter(t.Context(), state, p, framework.NewDefaultNodeToStatus())
	want := (fwk.NominatingInfo{NominatedNodeName: "a", NominatingMode: fwk.ModeOverride})
	if !status.IsSuccess() || *nominated.NominatingInfo != want {
		t.Errorf("result.nominated_node_name: %+v %v", nominated, status)
	}

	if score, status := mirror(t, h, "w").Score(t.Context(), framework.NewCycleState(), p, node("a")); score != 7 || !status.IsSuccess() {
		t.Errorf("score: %d %v", score, status)
	}
	status, wait := mirror(t, h, "w").Permit(t.Context(), framework.NewCycleState(), p, "a")
	if !status.IsSuccess() || wait != 1500*time.Millisecond {
		t.Errorf("permit: %v %v", status, wait)
	}
	if status := minor.Ask(t.Context(), mirror(t, h, "w"), framework.NewCycleState(), p, "a"); !status.IsSuccess() {
		t.Errorf("prebind is there: %v", status)
	}
}

func TestNormalizedScores(t *testing.T) {
	for config, want := range map[string]any{
		`s{"b":30,"a":10}`:       fwk.NodeScoreList{{Name: "a", Score: 10}, {Name: "b", Score: 30}},
		`w`:                      fwk.NodeScoreList{{Name: "a", Score: 1}, {Name: "b", Score: 3}}, // as they were
		`s{}`:                    fwk.NodeScoreList{{Name: "a", Score: 1}, {Name: "b", Score: 3}},
		`s{"a":10}`:              "wasm: normalizescore returned 1 scores for 2 nodes",
		`s{"b":30,"a":10,"c":1}`: "wasm: normalizescore returned 3 scores for 2 nodes",
		`s{"b":30,"other":10}`:   "wasm: normalizescore omitted node a",
	} {
		scores := fwk.NodeScoreList{{Name: "a", Score: 1}, {Name: "b", Score: 3}}
		status := mirror(t, aHandle(), config).ScoreExtensions().NormalizeScore(t.Context(), framework.NewCycleState(), aPod(), scores)
		got := any(scores)
		if !status.IsSuccess() {
			got = status.Message()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", config, got, want)
		}
	}
	status := mirror(t, aHandle(), "s[]").ScoreExtensions().NormalizeScore(t.Context(), framework.NewCycleState(), aPod(), fwk.NodeScoreList{})
	if status.Code() != fwk.Error || !strings.Contains(status.Message(), "json: cannot unmarshal array") {
		t.Errorf("scores that are no object: %v", status)
	}
}

func TestGuestEndsTheWaitThatItBegan(t *testing.T) {
	h := aHandle()
	for uid, want := range map[types.UID]fwk.Code{"waiting": fwk.Success, "other": fwk.Unschedulable} {
		h.waiting = uid
		got := schedule(t.Context(), openWith(t, "filter_allow", Args{}, h), pod("web"), "n")[0]
		if got.Code() != want {
			t.Errorf("%s waits: %v, want %v", uid, got, want)
		}
	}
	if len(h.allowed) != 1 || h.allowed[0] != t.Name()+" waiting" {
		t.Errorf("allowed %q", h.allowed)
	}
}
