package wasmhost_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// startOurs returns what makes the plugin of a scenario.
func startOurs(t *testing.T) scenario.Start {
	return func(s scenario.Scenario, args scenario.Args, notes *scenario.Notes) (scenario.Host, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		handle := newHandle(s, notes)
		plugin, err := wasmhost.New(fetch.Fetcher{}.Options()).PluginFactory("wasm")(scenario.Quiet(t.Context()),
			&runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}, handle)
		if err != nil {
			return nil, err
		}
		return &ours{plugin: plugin, handle: handle, state: framework.NewCycleState()}, nil
	}
}

// ours asks our plugin as the framework would. A pod's state is the state of its last
// PreFilter.
type ours struct {
	plugin fwk.Plugin
	handle *handle
	states map[types.UID]fwk.CycleState
	state  fwk.CycleState
}

// Ask implements scenario.Host.
func (o *ours) Ask(q scenario.Question) scenario.Answer {
	ctx := scenario.Quiet(context.Background())
	if q.Pod != nil {
		o.enter(q)
	}
	switch q.Hook {
	case "enqueue", "prefilter", "addpod", "removepod", "filter", "postfilter":
		return o.askFilter(ctx, q)
	case "prescore", "score", "normalizescore":
		return o.askScore(ctx, q)
	}
	return o.askBinding(ctx, q)
}

func (o *ours) enter(q scenario.Question) {
	if o.states == nil {
		o.states = map[types.UID]fwk.CycleState{}
	}
	if o.states[q.Pod.UID] == nil || q.Hook == "prefilter" {
		o.states[q.Pod.UID] = framework.NewCycleState()
	}
	o.state = o.states[q.Pod.UID]
}

func (o *ours) askFilter(ctx context.Context, q scenario.Question) scenario.Answer {
	switch q.Hook {
	case "enqueue":
		if p, ok := o.plugin.(fwk.EnqueueExtensions); ok {
			events, err := p.EventsToRegister(ctx)
			return scenario.Answer{Status: statusOf(fwk.AsStatus(err)), Events: named(events)}
		}
	case "prefilter":
		if p, ok := o.plugin.(fwk.PreFilterPlugin); ok {
			// Without the nodes: of a guest that declares what it decides by our host
			// names the nodes that pass, where the upstream one leaves it to Filter.
			result, status := p.PreFilter(ctx, o.state, q.Pod, nil)
			return scenario.Answer{Status: statusOf(status), NodeNames: names(result)}
		}
	case "addpod", "removepod":
		p, ok := o.plugin.(fwk.PreFilterPlugin)
		if ok && p.PreFilterExtensions() != nil {
			target, _ := framework.NewPodInfo(q.Target)
			ask := p.PreFilterExtensions().AddPod
			if q.Hook == "removepod" {
				ask = p.PreFilterExtensions().RemovePod
			}
			return scenario.Answer{Status: statusOf(ask(ctx, o.state, q.Pod, target, o.handle.node(q.Node)))}
		}
	case "filter":
		if p, ok := o.plugin.(fwk.FilterPlugin); ok {
			return scenario.Answer{Status: statusOf(p.Filter(ctx, o.state, q.Pod, o.handle.node(q.Node)))}
		}
	case "postfilter":
		if p, ok := o.plugin.(fwk.PostFilterPlugin); ok {
			result, status := p.PostFilter(ctx, o.state, q.Pod, statuses(q.Statuses))
			return postFiltered(result, statusOf(status))
		}
	}
	return scenario.Answer{Missing: true}
}

func (o *ours) askScore(ctx context.Context, q scenario.Question) scenario.Answer {
	p, ok := o.plugin.(fwk.ScorePlugin)
	switch {
	case q.Hook == "prescore":
		if p, ok := o.plugin.(fwk.PreScorePlugin); ok {
			return scenario.Answer{Status: statusOf(p.PreScore(ctx, o.state, q.Pod, o.handle.named(q.Nodes)))}
		}
	case q.Hook == "score" && ok:
		score, status := p.Score(ctx, o.state, q.Pod, o.handle.node(q.Node))
		return scenario.Answer{Score: score, Status: statusOf(status)}
	case q.Hook == "normalizescore" && ok && p.ScoreExtensions() != nil:
		var list fwk.NodeScoreList
		for name, score := range q.Scores {
			list = append(list, fwk.NodeScore{Name: name, Score: score})
		}
		status := p.ScoreExtensions().NormalizeScore(ctx, o.state, q.Pod, list)
		scores := map[string]int64{}
		for _, one := range list {
			scores[one.Name] = one.Score
		}
		return scenario.Answer{Scores: scores, Status: statusOf(status)}
	}
	return scenario.Answer{Missing: true}
}

func (o *ours) askBinding(ctx context.Context, q scenario.Question) scenario.Answer {
	reserve, reserves := o.plugin.(fwk.ReservePlugin)
	permit, permits := o.plugin.(fwk.PermitPlugin)
	preBind, preBinds := o.plugin.(fwk.PreBindPlugin)
	bind, binds := o.plugin.(fwk.BindPlugin)
	postBind, postBinds := o.plugin.(fwk.PostBindPlugin)
	switch {
	case q.Hook == "reserve" && reserves:
		return scenario.Answer{Status: statusOf(reserve.Reserve(ctx, o.state, q.Pod, q.Node))}
	case q.Hook == "unreserve" && reserves:
		reserve.Unreserve(ctx, o.state, q.Pod, q.Node)
		return scenario.Answer{}
	case q.Hook == "permit" && permits:
		status, timeout := permit.Permit(ctx, o.state, q.Pod, q.Node)
		return scenario.Answer{Status: statusOf(status), Timeout: timeout}
	case q.Hook == "prebind" && preBinds:
		return scenario.Answer{Status: statusOf(preBind.PreBind(ctx, o.state, q.Pod, q.Node))}
	case q.Hook == "bind" && binds:
		return scenario.Answer{Status: statusOf(bind.Bind(ctx, o.state, q.Pod, q.Node))}
	case q.Hook == "postbind" && postBinds:
		postBind.PostBind(ctx, o.state, q.Pod, q.Node)
		return scenario.Answer{}
	}
	return scenario.Answer{Missing: true}
}

// trap begins the reason of a guest that did not come back.
var trap = regexp.MustCompile(`^wasm: \w+ error: `)

// statusOf is a status as the transcript has it.
func statusOf(status *fwk.Status) *scenario.Status {
	reason := status.Message()
	return &scenario.Status{Code: status.Code().String(), Reason: reason, Trap: trap.MatchString(reason)}
}

// named tells events by the names that their actions had in Kubernetes 1.32.
func named(events []fwk.ClusterEventWithHint) []scenario.Event {
	bits := []fwk.ActionType{
		fwk.Add, fwk.Delete, fwk.UpdateNodeAllocatable, fwk.UpdateNodeLabel, fwk.UpdateNodeTaint, fwk.UpdateNodeCondition,
		fwk.UpdateNodeAnnotation, fwk.UpdatePodLabel, fwk.UpdatePodScaleDown, fwk.UpdatePodToleration,
		fwk.UpdatePodSchedulingGatesEliminated, fwk.UpdatePodGeneratedResourceClaim,
	}
	var all []scenario.Event
	for _, event := range events {
		one := scenario.Event{Resource: string(event.Event.Resource)}
		action := event.Event.ActionType
		if action == fwk.All {
			one.Actions, action = []string{scenario.All}, 0
		} else if action&fwk.Update == fwk.Update {
			one.Actions, action = []string{"Update"}, action&^fwk.Update
		}
		for i, bit := range bits {
			if action&bit != 0 {
				one.Actions = append(one.Actions, scenario.Actions(1<<i)...)
			}
		}
		all = append(all, one)
	}
	return all
}

func names(result *fwk.PreFilterResult) []string {
	if result == nil || result.NodeNames == nil {
		return nil
	}
	return slices.Sorted(slices.Values(sets.List(result.NodeNames)))
}

func statuses(codes map[string]int) *framework.NodeToStatus {
	byNode := map[string]*fwk.Status{}
	for name, code := range codes {
		byNode[name] = fwk.NewStatus(fwk.Code(code))
	}
	return framework.NewNodeToStatus(byNode, fwk.NewStatus(fwk.UnschedulableAndUnresolvable))
}

func postFiltered(result *fwk.PostFilterResult, status *scenario.Status) scenario.Answer {
	answer := scenario.Answer{Status: status}
	if result != nil && result.NominatingInfo != nil {
		answer.Nominated, answer.Mode = result.NominatedNodeName, int(result.NominatingMode)
	}
	return answer
}

// handle is the scheduler around the plugin: its nodes, in the scenario's order,
// its waiting pods and its events. The plugin asks for nothing else.
type handle struct {
	*snapshot.Handle
	waiting []*v1.Pod
	notes   *scenario.Notes
}

func newHandle(s scenario.Scenario, notes *scenario.Notes) *handle {
	var nodes []*v1.Node
	for _, node := range s.Cluster.Nodes {
		nodes = append(nodes, &node)
	}
	h := &handle{Handle: snapshot.Of(nodes...), notes: notes}
	for i, node := range nodes {
		images := map[string]*fwk.ImageStateSummary{}
		for _, image := range node.Status.Images {
			images[image.Names[0]] = &fwk.ImageStateSummary{Size: image.SizeBytes, NumNodes: 1}
		}
		h.Nodes[i].(*framework.NodeInfo).ImageStates = images
	}
	for _, name := range s.Waiting {
		h.waiting = append(h.waiting, s.Cluster.Pod(name))
	}
	return h
}

func (h *handle) node(name string) fwk.NodeInfo {
	info, err := h.SnapshotSharedLister().NodeInfos().Get(name)
	if err != nil {
		panic(err)
	}
	return info
}

func (h *handle) named(names []string) []fwk.NodeInfo {
	var infos []fwk.NodeInfo
	for _, name := range names {
		infos = append(infos, h.node(name))
	}
	return infos
}

func (h *handle) GetWaitingPod(uid types.UID) fwk.WaitingPod {
	for _, pod := range h.waiting {
		if pod.UID == uid {
			return waitingPod{pod: pod}
		}
	}
	return nil
}

func (h *handle) RejectWaitingPod(uid types.UID) bool {
	h.notes.Add("rejects the waiting pod %s", uid)
	return h.GetWaitingPod(uid) != nil
}

func (h *handle) EventRecorder() minor.EventRecorder { return recorder{h.notes} }

type recorder struct{ *scenario.Notes }

func (r recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

type waitingPod struct {
	fwk.WaitingPod
	pod *v1.Pod
}

func (w waitingPod) GetPod() *v1.Pod { return w.pod }
