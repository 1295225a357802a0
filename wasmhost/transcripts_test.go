package wasmhost

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/abi"
	guestabi "wasmkwokwizardry.io/regex-scheduling/guest/abi"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
)

func TestHostDoesWhatTheTranscriptsSay(t *testing.T) {
	transcripts, objects, err := abi.Read("../abi")
	testkit.Must(t, err)
	protobuf := func(kind string, object []byte) []byte {
		message := map[string]interface{ Marshal() ([]byte, error) }{"pod": &v1.Pod{}, "node": &v1.Node{}, "nodes": &v1.NodeList{}}[kind]
		testkit.Must(t, json.Unmarshal(object, message))
		encoded, _ := message.Marshal()
		return encoded
	}
	for _, transcript := range transcripts {
		t.Run(transcript.Name, func(t *testing.T) {
			start := func(r abi.Run) (func(abi.Call) abi.Answer, error) { return startRun(t, objects, r) }
			for _, difference := range (abi.Host{Start: start, Protobuf: protobuf}).Run(transcript, objects) {
				t.Error(difference)
			}
		})
	}
}

// run is a guest that has started, with the nodes and the pods around it.
type run struct {
	*handle
	plugin fwk.Plugin
	pods   map[string]*v1.Pod
	states map[*v1.Pod]fwk.CycleState // from the pod's last PreFilter on
}

func startRun(t *testing.T, objects abi.Objects, r abi.Run) (func(abi.Call) abi.Answer, error) {
	var o struct {
		Pods  map[string]*v1.Pod
		Nodes map[string]*v1.Node
	}
	text, err := json.Marshal(objects)
	testkit.Must(t, err)
	testkit.Must(t, json.Unmarshal(text, &o))
	nodes := slices.SortedFunc(maps.Values(o.Nodes), func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	s := run{handle: &handle{Handle: snapshot.Of(nodes...)}, pods: o.Pods, states: map[*v1.Pod]fwk.CycleState{}}
	for _, pod := range o.Pods {
		s.states[pod] = framework.NewCycleState()
		if pod.Spec.NodeName != "" {
			place(t, s.node(pod.Spec.NodeName), pod)
		}
	}
	for _, name := range r.Waiting {
		s.waiting = append(s.waiting, s.pods[name])
	}
	klog.SetLogger(funcr.New(func(_, line string) { s.note("log %s", line) }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	h := New(fromFiles)
	t.Cleanup(func() { h.Close() })
	s.plugin, err = h.open(klog.NewContext(t.Context(), logr.Discard()), "wasm", Args{
		GuestURL: "file://" + path.Join("../abi", r.Module), GuestConfig: r.Config, LogSeverity: r.LogSeverity, CallTimeout: NoCallTimeout,
	}, s.handle)
	s.take() // what it did at its start
	return func(c abi.Call) abi.Answer { return s.call(t, c) }, err
}

func (s run) node(name string) fwk.NodeInfo {
	node, _ := s.SnapshotSharedLister().NodeInfos().Get(name)
	return node
}

// call calls a hook as the framework does.
func (s run) call(t *testing.T, c abi.Call) (a abi.Answer) {
	ctx, pod, node := t.Context(), s.pods[c.Pod], s.node(c.Node)
	for _, victim := range c.Victims {
		node = node.Snapshot()
		testkit.Must(t, node.RemovePod(klog.Background(), s.pods[victim]))
	}
	var nodes []fwk.NodeInfo
	for _, name := range c.Nodes {
		nodes = append(nodes, s.node(name))
	}
	if c.Hook == "prefilter" {
		s.states[pod] = framework.NewCycleState()
	}
	state, wait, status := s.states[pod], time.Duration(0), (*fwk.Status)(nil)
	switch c.Hook {
	case "enqueue":
		events, err := s.plugin.(fwk.EnqueueExtensions).EventsToRegister(ctx)
		testkit.Must(t, err)
		for _, event := range events {
			a.Events = append(a.Events, eventNamed(event.Event))
		}
	case "prefilter":
		var result *fwk.PreFilterResult
		result, status = s.plugin.(fwk.PreFilterPlugin).PreFilter(ctx, state, pod, nodes)
		if !result.AllNodes() {
			a.Nodes = sets.List(result.NodeNames)
		}
	case "addpod":
		status = s.plugin.(fwk.PreFilterPlugin).PreFilterExtensions().AddPod(ctx, state, pod, snapshot.PodInfo(s.pods[c.Target]), node)
	case "removepod":
		status = s.plugin.(fwk.PreFilterPlugin).PreFilterExtensions().RemovePod(ctx, state, pod, snapshot.PodInfo(s.pods[c.Target]), node)
	case "filter":
		status = s.plugin.(fwk.FilterPlugin).Filter(ctx, state, pod, node)
	case "postfilter":
		codes := framework.NewDefaultNodeToStatus()
		for name, code := range c.Statuses {
			codes.Set(name, fwk.NewStatus(fwk.Code(code)))
		}
		var result *fwk.PostFilterResult
		result, status = s.plugin.(fwk.PostFilterPlugin).PostFilter(ctx, state, pod, codes)
		if status.IsSuccess() {
			a.Nominated = result.NominatedNodeName
		}
	case "prescore":
		status = s.plugin.(fwk.PreScorePlugin).PreScore(ctx, state, pod, nodes)
	case "score":
		a.Score, status = s.plugin.(fwk.ScorePlugin).Score(ctx, state, pod, node)
	case "normalizescore":
		var scores fwk.NodeScoreList
		for name, score := range c.Scores {
			scores = append(scores, fwk.NodeScore{Name: name, Score: score})
		}
		status = s.plugin.(fwk.ScorePlugin).ScoreExtensions().NormalizeScore(ctx, state, pod, scores)
		a.Scores = map[string]int64{}
		for _, score := range scores {
			a.Scores[score.Name] = score.Score
		}
	case "reserve":
		status = s.plugin.(fwk.ReservePlugin).Reserve(ctx, state, pod, c.Node)
	case "unreserve":
		s.plugin.(fwk.ReservePlugin).Unreserve(ctx, state, pod, c.Node)
	case "permit":
		status, wait = s.plugin.(fwk.PermitPlugin).Permit(ctx, state, pod, c.Node)
	case "prebind":
		status = s.plugin.(fwk.PreBindPlugin).PreBind(ctx, state, pod, c.Node)
	case "bind":
		status = s.plugin.(fwk.BindPlugin).Bind(ctx, state, pod, c.Node)
	case "postbind":
		s.plugin.(fwk.PostBindPlugin).PostBind(ctx, state, pod, c.Node)
	default:
		t.Errorf("there is no hook %q", c.Hook)
	}
	switch {
	case status.IsWait():
		a.Wait = wait.Milliseconds()
	case !status.IsSuccess():
		a = abi.Answer{} // the framework does not look at the rest
	}
	if !status.IsSuccess() {
		a.Code = status.Code().String()
	}
	a.Reason, a.Effects = status.Message(), s.take()
	return a
}

// eventNamed has the names of docs/abi.md.
func eventNamed(event fwk.ClusterEvent) string {
	name := path.Base(string(event.Resource))
	if event.ActionType == fwk.All {
		return name + " all"
	}
	for bit, action := range actions {
		if event.ActionType&action == action {
			name += " " + guestabi.Actions[bit]
		}
	}
	return name
}
