package compat

import (
	"context"
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	upstream "sigs.k8s.io/kube-scheduler-wasm-extension/scheduler/plugin"

	"wasmkwokwizardry.io/regex-scheduling/compat/scenario"
)

// start makes the upstream plugin of a scenario.
func start(s scenario.Scenario, args scenario.Args, notes *scenario.Notes) (scenario.Host, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	handle := newHandle(s, notes)
	plugin, err := upstream.PluginFactory("wasm")(scenario.Quiet(context.Background()),
		&runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON}, handle)
	if err != nil {
		return nil, err
	}
	return &host{plugin: plugin, handle: handle, state: framework.NewCycleState()}, nil
}

// host asks the upstream plugin as the framework would.
type host struct {
	plugin framework.Plugin
	handle *handle
	state  *framework.CycleState
}

// Ask implements scenario.Host.
func (h *host) Ask(q scenario.Question) scenario.Answer {
	ctx := scenario.Quiet(context.Background())
	switch q.Hook {
	case "enqueue", "prefilter", "addpod", "removepod", "filter", "postfilter":
		return h.askFilter(ctx, q)
	case "prescore", "score", "normalizescore":
		return h.askScore(ctx, q)
	}
	return h.askBinding(ctx, q)
}

func (h *host) askFilter(ctx context.Context, q scenario.Question) scenario.Answer {
	switch q.Hook {
	case "enqueue":
		if p, ok := h.plugin.(framework.EnqueueExtensions); ok {
			events, err := p.EventsToRegister(ctx)
			return scenario.Answer{Status: statusOf(framework.AsStatus(err)), Events: eventsOf(events)}
		}
	case "prefilter":
		if p, ok := h.plugin.(framework.PreFilterPlugin); ok {
			h.state = framework.NewCycleState()
			result, status := p.PreFilter(ctx, h.state, q.Pod)
			return scenario.Answer{Status: statusOf(status), NodeNames: namesOf(result)}
		}
	case "addpod", "removepod":
		p, ok := h.plugin.(framework.PreFilterPlugin)
		if ok && p.PreFilterExtensions() != nil {
			target, _ := framework.NewPodInfo(q.Target)
			ask := p.PreFilterExtensions().AddPod
			if q.Hook == "removepod" {
				ask = p.PreFilterExtensions().RemovePod
			}
			return scenario.Answer{Status: statusOf(ask(ctx, h.state, q.Pod, target, h.handle.node(q.Node)))}
		}
	case "filter":
		if p, ok := h.plugin.(framework.FilterPlugin); ok {
			return scenario.Answer{Status: statusOf(p.Filter(ctx, h.state, q.Pod, h.handle.node(q.Node)))}
		}
	case "postfilter":
		if p, ok := h.plugin.(framework.PostFilterPlugin); ok {
			return postFiltered(p.PostFilter(ctx, h.state, q.Pod, statuses(q.Statuses)))
		}
	}
	return scenario.Answer{Missing: true}
}

func (h *host) askScore(ctx context.Context, q scenario.Question) scenario.Answer {
	p, ok := h.plugin.(framework.ScorePlugin)
	switch {
	case q.Hook == "prescore":
		if p, ok := h.plugin.(framework.PreScorePlugin); ok {
			var nodes []*framework.NodeInfo
			for _, name := range q.Nodes {
				nodes = append(nodes, h.handle.node(name))
			}
			return scenario.Answer{Status: statusOf(p.PreScore(ctx, h.state, q.Pod, nodes))}
		}
	case q.Hook == "score" && ok:
		score, status := p.Score(ctx, h.state, q.Pod, q.Node)
		return scenario.Answer{Score: score, Status: statusOf(status)}
	case q.Hook == "normalizescore" && ok && p.ScoreExtensions() != nil:
		var list framework.NodeScoreList
		for name, score := range q.Scores {
			list = append(list, framework.NodeScore{Name: name, Score: score})
		}
		status := p.ScoreExtensions().NormalizeScore(ctx, h.state, q.Pod, list)
		scores := map[string]int64{}
		for _, one := range list {
			scores[one.Name] = one.Score
		}
		return scenario.Answer{Scores: scores, Status: statusOf(status)}
	}
	return scenario.Answer{Missing: true}
}

func (h *host) askBinding(ctx context.Context, q scenario.Question) scenario.Answer {
	reserve, reserves := h.plugin.(framework.ReservePlugin)
	permit, permits := h.plugin.(framework.PermitPlugin)
	preBind, preBinds := h.plugin.(framework.PreBindPlugin)
	bind, binds := h.plugin.(framework.BindPlugin)
	postBind, postBinds := h.plugin.(framework.PostBindPlugin)
	switch {
	case q.Hook == "reserve" && reserves:
		return scenario.Answer{Status: statusOf(reserve.Reserve(ctx, h.state, q.Pod, q.Node))}
	case q.Hook == "unreserve" && reserves:
		reserve.Unreserve(ctx, h.state, q.Pod, q.Node)
		return scenario.Answer{}
	case q.Hook == "permit" && permits:
		status, timeout := permit.Permit(ctx, h.state, q.Pod, q.Node)
		return scenario.Answer{Status: statusOf(status), Timeout: timeout}
	case q.Hook == "prebind" && preBinds:
		return scenario.Answer{Status: statusOf(preBind.PreBind(ctx, h.state, q.Pod, q.Node))}
	case q.Hook == "bind" && binds:
		return scenario.Answer{Status: statusOf(bind.Bind(ctx, h.state, q.Pod, q.Node))}
	case q.Hook == "postbind" && postBinds:
		postBind.PostBind(ctx, h.state, q.Pod, q.Node)
		return scenario.Answer{}
	}
	return scenario.Answer{Missing: true}
}

// statusOf is a status as the transcript has it. A guest that did not come back is
// seen by the stack of Wasm functions in the reason.
func statusOf(status *framework.Status) *scenario.Status {
	reason := status.Message()
	return &scenario.Status{
		Code: status.Code().String(), Reason: reason, Trap: strings.Contains(reason, "wasm stack trace:"),
	}
}

func eventsOf(events []framework.ClusterEventWithHint) []scenario.Event {
	var all []scenario.Event
	for _, event := range events {
		all = append(all, scenario.Event{
			Resource: string(event.Event.Resource), Actions: scenario.Actions(uint64(event.Event.ActionType)),
		})
	}
	return all
}

func namesOf(result *framework.PreFilterResult) []string {
	if result == nil || result.NodeNames == nil {
		return nil
	}
	return sets.List(result.NodeNames)
}

func statuses(codes map[string]int) *framework.NodeToStatus {
	byNode := map[string]*framework.Status{}
	for name, code := range codes {
		byNode[name] = framework.NewStatus(framework.Code(code))
	}
	return framework.NewNodeToStatus(byNode, framework.NewStatus(framework.UnschedulableAndUnresolvable))
}

func postFiltered(result *framework.PostFilterResult, status *framework.Status) scenario.Answer {
	answer := scenario.Answer{Status: statusOf(status)}
	if result != nil && result.NominatingInfo != nil {
		answer.Nominated, answer.Mode = result.NominatedNodeName, int(result.NominatingMode)
	}
	return answer
}
