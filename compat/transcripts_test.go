package compat

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "sigs.k8s.io/kube-scheduler-wasm-extension/scheduler/plugin"

	"wasmkwokwizardry.io/regex-scheduling/abi"
)

func TestUpstreamsHostDoesWhatTheTranscriptsSayOfIt(t *testing.T) {
	transcripts, objects, err := abi.Read("../abi")
	must(t, err)
	protobuf := func(kind string, object []byte) []byte {
		message := map[string]interface{ Marshal() ([]byte, error) }{"pod": &v1.Pod{}, "node": &v1.Node{}, "nodes": &v1.NodeList{}}[kind]
		must(t, json.Unmarshal(object, message))
		encoded, _ := message.Marshal()
		return encoded
	}
	for _, transcript := range transcripts {
		t.Run(transcript.Name, func(t *testing.T) {
			start := func(r abi.Run) (func(abi.Call) abi.Answer, error) { return startRun(t, objects, r) }
			for _, difference := range (abi.Host{Upstream: true, Start: start, Protobuf: protobuf}).Run(transcript, objects) {
				t.Error(difference)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run is a guest that has started, and as much of the scheduler around it as it may ask for, or act on.
type run struct {
	framework.Handle
	plugin   framework.Plugin
	pods     map[string]*v1.Pod
	waiting  []*v1.Pod
	snapshot *cache.Snapshot
	state    *framework.CycleState

	mu      sync.Mutex
	effects []string // what the guest has done
}

// quiet has no logger: the host's own log is not compared.
var quiet = klog.NewContext(context.Background(), logr.Discard())

func startRun(t *testing.T, objects abi.Objects, r abi.Run) (func(abi.Call) abi.Answer, error) {
	var o struct {
		Pods  map[string]*v1.Pod
		Nodes map[string]*v1.Node
	}
	text, err := json.Marshal(objects)
	must(t, err)
	must(t, json.Unmarshal(text, &o))
	nodes := slices.SortedFunc(maps.Values(o.Nodes), func(a, b *v1.Node) int { return cmp.Compare(a.Name, b.Name) })
	placed := slices.DeleteFunc(slices.Collect(maps.Values(o.Pods)), func(pod *v1.Pod) bool { return pod.Spec.NodeName == "" })
	s := &run{pods: o.Pods, snapshot: cache.NewSnapshot(placed, nodes), state: framework.NewCycleState()}
	list, _ := s.snapshot.NodeInfos().List() // in any order
	for i, node := range nodes {
		list[i] = s.node(node.Name)
	}
	for _, name := range r.Waiting {
		s.waiting = append(s.waiting, s.pods[name])
	}
	klog.SetLogger(funcr.New(func(_, line string) { s.note("log %s", line) }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	module, err := filepath.Abs(filepath.Join("../abi", r.Module))
	must(t, err)
	args, err := json.Marshal(map[string]any{"guestURL": "file://" + module, "guestConfig": r.Config, "logSeverity": r.LogSeverity})
	must(t, err)
	s.plugin, err = upstream.PluginFactory("wasm")(quiet, &runtime.Unknown{Raw: args, ContentType: runtime.ContentTypeJSON}, s)
	s.take() // what it did at its start
	return func(c abi.Call) abi.Answer { return s.call(t, c) }, err
}

// call calls a hook as the framework does.
func (s *run) call(t *testing.T, c abi.Call) (a abi.Answer) {
	pod, node := s.pods[c.Pod], s.node(c.Node)
	for _, victim := range c.Victims {
		node = node.Snapshot()
		must(t, node.RemovePod(klog.Background(), s.pods[victim]))
	}
	var nodes []*framework.NodeInfo
	for _, name := range c.Nodes {
		nodes = append(nodes, s.node(name))
	}
	if c.Hook == "prefilter" {
		s.state = framework.NewCycleState()
	}
	state, wait, status := s.state, time.Duration(0), (*framework.Status)(nil)
	switch c.Hook {
	case "enqueue":
		events, err := s.plugin.(framework.EnqueueExtensions).EventsToRegister(quiet)
		status = framework.AsStatus(err)
		for _, event := range events {
			a.Events = append(a.Events, eventNamed(event.Event))
		}
	case "prefilter":
		var result *framework.PreFilterResult
		result, status = s.plugin.(framework.PreFilterPlugin).PreFilter(quiet, state, pod)
		if !result.AllNodes() {
			a.Nodes = sets.List(result.NodeNames)
		}
	case "addpod", "removepod":
		target, _ := framework.NewPodInfo(s.pods[c.Target])
		extensions := s.plugin.(framework.PreFilterPlugin).PreFilterExtensions()
		call := map[string]func(context.Context, *framework.CycleState, *v1.Pod, *framework.PodInfo, *framework.NodeInfo) *framework.Status{
			"addpod": extensions.AddPod, "removepod": extensions.RemovePod,
		}[c.Hook]
		status = call(quiet, state, pod, target, node)
	case "filter":
		status = s.plugin.(framework.FilterPlugin).Filter(quiet, state, pod, node)
	case "postfilter":
		codes := map[string]*framework.Status{}
		for name, code := range c.Statuses {
			codes[name] = framework.NewStatus(framework.Code(code))
		}
		var result *framework.PostFilterResult
		result, status = s.plugin.(framework.PostFilterPlugin).PostFilter(quiet, state, pod, framework.NewNodeToStatus(codes, nil))
		if status.IsSuccess() {
			a.Nominated = result.NominatedNodeName
		}
	case "prescore":
		status = s.plugin.(framework.PreScorePlugin).PreScore(quiet, state, pod, nodes)
	case "score":
		a.Score, status = s.plugin.(framework.ScorePlugin).Score(quiet, state, pod, c.Node)
	case "normalizescore":
		var scores framework.NodeScoreList
		for name, score := range c.Scores {
			scores = append(scores, framework.NodeScore{Name: name, Score: score})
		}
		slices.SortFunc(scores, func(a, b framework.NodeScore) int { return cmp.Compare(a.Name, b.Name) })
		status = s.plugin.(framework.ScorePlugin).ScoreExtensions().NormalizeScore(quiet, state, pod, scores)
		a.Scores = map[string]int64{}
		for _, score := range scores {
			a.Scores[score.Name] = score.Score
		}
	case "reserve":
		status = s.plugin.(framework.ReservePlugin).Reserve(quiet, state, pod, c.Node)
	case "unreserve":
		s.plugin.(framework.ReservePlugin).Unreserve(quiet, state, pod, c.Node)
	case "permit":
		status, wait = s.plugin.(framework.PermitPlugin).Permit(quiet, state, pod, c.Node)
	case "prebind":
		status = s.plugin.(framework.PreBindPlugin).PreBind(quiet, state, pod, c.Node)
	case "bind":
		status = s.plugin.(framework.BindPlugin).Bind(quiet, state, pod, c.Node)
	case "postbind":
		s.plugin.(framework.PostBindPlugin).PostBind(quiet, state, pod, c.Node)
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

// eventNamed has the names of docs/abi.md, whose bits are the ones of this Kubernetes.
func eventNamed(event framework.ClusterEvent) string {
	name := path.Base(string(event.Resource))
	if event.ActionType == framework.All {
		return name + " all"
	}
	for bit, action := range actions {
		if event.ActionType&(1<<bit) != 0 {
			name += " " + action
		}
	}
	return name
}

var actions = []string{
	"Add", "Delete", "UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition", "UpdateNodeAnnotation",
	"UpdatePodLabel", "UpdatePodScaleDown", "UpdatePodTolerations", "UpdatePodSchedulingGatesEliminated", "UpdatePodGeneratedResourceClaim",
	"UpdatePodOther",
}

func (s *run) node(name string) *framework.NodeInfo {
	node, _ := s.snapshot.Get(name)
	return node
}

// SnapshotSharedLister implements framework.Handle, as the other methods do.
func (s *run) SnapshotSharedLister() framework.SharedLister { return s.snapshot }

func (s *run) EventRecorder() events.EventRecorder { return recorder{s} }

func (s *run) GetWaitingPod(uid types.UID) framework.WaitingPod {
	i := slices.IndexFunc(s.waiting, func(pod *v1.Pod) bool { return pod.UID == uid })
	if i < 0 {
		return nil
	}
	return waitingPod{pod: s.waiting[i]}
}

func (s *run) RejectWaitingPod(uid types.UID) bool {
	waits := s.GetWaitingPod(uid) != nil
	if waits {
		s.note("reject %s", uid)
	}
	return waits
}

func (s *run) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effects = append(s.effects, fmt.Sprintf(format, args...))
}

// take returns what the guest has done since the last call.
func (s *run) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	effects := s.effects
	s.effects = nil
	return effects
}

type recorder struct{ run *run }

func (r recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	r.run.note("event %s %s %s: %s, of %s, %s", kind, reason, action, fmt.Sprintf(note, args...), named(regarding), named(related))
}

func named(object runtime.Object) string {
	is := object.(*v1.ObjectReference)
	return fmt.Sprintf("%s/%s/%s/%s/%s/%s", is.APIVersion, is.Kind, is.Namespace, is.Name, is.UID, is.ResourceVersion)
}

type waitingPod struct {
	framework.WaitingPod
	pod *v1.Pod
}

func (w waitingPod) GetPod() *v1.Pod { return w.pod }
