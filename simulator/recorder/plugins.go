package recorder

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedframework "k8s.io/kubernetes/pkg/scheduler/framework"
)

// point is where plugins say something of a pod.
type point int

const (
	preFilter point = iota
	preScore
	reserve
	permit
	preBind
	bind
	points // how many there are
)

// sayings are what plugins said of a pod, by point.
type sayings [points][]PluginVerdict

// pluginsAt are the plugins of a profile by point, in the order in which they are
// asked.
func pluginsAt(enabled *config.Plugins) (names [points][]string) {
	for p, set := range [...]config.PluginSet{enabled.PreFilter, enabled.PreScore, enabled.Reserve, enabled.Permit, enabled.PreBind, enabled.Bind} {
		for _, plugin := range set.Enabled {
			names[p] = append(names[p], plugin.Name)
		}
	}
	return names
}

// watchPlugins listens to each plugin of a profile, since the framework hands on
// only what all of them together come to. Without the private fields the plugins
// seem not to have been asked, and scores not to have been normalized.
func (s *session) watchPlugins(fwk schedframework.Framework) {
	watch(fwk, "preFilterPlugins", func(p framework.PreFilterPlugin) framework.PreFilterPlugin { return watchedPreFilter{p, s} })
	watch(fwk, "preScorePlugins", func(p framework.PreScorePlugin) framework.PreScorePlugin { return watchedPreScore{p, s} })
	watch(fwk, "scorePlugins", func(p framework.ScorePlugin) framework.ScorePlugin { return watchedScore{p, s} })
	watch(fwk, "reservePlugins", func(p framework.ReservePlugin) framework.ReservePlugin { return watchedReserve{p, s} })
	watch(fwk, "permitPlugins", func(p framework.PermitPlugin) framework.PermitPlugin { return watchedPermit{p, s} })
	watch(fwk, "preBindPlugins", func(p framework.PreBindPlugin) framework.PreBindPlugin { return watchedPreBind{p, s} })
	watch(fwk, "bindPlugins", func(p framework.BindPlugin) framework.BindPlugin { return watchedBind{p, s} })
}

func watch[P any](fwk schedframework.Framework, field string, watched func(P) P) {
	if plugins := private[[]P](fwk, field); plugins != nil {
		for i, plugin := range *plugins {
			(*plugins)[i] = watched(plugin)
		}
	}
}

// heard records what a plugin said of a pod.
func (s *session) heard(p point, pod *v1.Pod, said PluginVerdict) {
	if rec := s.of(pod); rec != nil {
		s.recorder.mu.Lock()
		defer s.recorder.mu.Unlock()
		rec.said[p] = append(rec.said[p], said)
	}
}

func verdict(plugin framework.Plugin, status *framework.Status) PluginVerdict {
	said, reason := judge(status)
	return PluginVerdict{Plugin: plugin.Name(), Verdict: said, Reason: reason}
}

// inAll are the verdicts of all plugins, in their order: of those too that were not
// asked.
func (s *sayings) inAll(plugins [points][]string) *sayings {
	all := &sayings{}
	for p, names := range plugins {
		all[p] = make([]PluginVerdict, len(names))
		for i, name := range names {
			all[p][i] = PluginVerdict{Plugin: name, Verdict: NotRun}
			if j := slices.IndexFunc(s[p], func(v PluginVerdict) bool { return v.Plugin == name }); j >= 0 {
				all[p][i] = s[p][j]
			}
		}
	}
	return all
}

// equal reports whether the plugins said the same.
func (s *sayings) equal(other *sayings) bool {
	for p := range points {
		if !slices.Equal(s[p], other[p]) {
			return false
		}
	}
	return true
}

// recent is what attempts have come to lately: the next attempt mostly comes to one
// of that, and need not keep its own.
type recent struct {
	all  [16]*sayings
	next int
}

// share returns an equal one that is kept already, if there is any.
func (r *recent) share(s *sayings) *sayings {
	for _, kept := range r.all {
		if kept != nil && kept.equal(s) {
			return kept
		}
	}
	r.all[r.next] = s
	r.next = (r.next + 1) % len(r.all)
	return s
}

type watchedPreFilter struct {
	framework.PreFilterPlugin
	session *session
}

func (w watchedPreFilter) PreFilter(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) (*framework.PreFilterResult, *framework.Status) {
	result, status := w.PreFilterPlugin.PreFilter(ctx, state, pod, nodes)
	said := verdict(w, status)
	said.LimitsNodes = status.IsSuccess() && !result.AllNodes()
	w.session.heard(preFilter, pod, said)
	return result, status
}

type watchedPreScore struct {
	framework.PreScorePlugin
	session *session
}

func (w watchedPreScore) PreScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, nodes []framework.NodeInfo) *framework.Status {
	status := w.PreScorePlugin.PreScore(ctx, state, pod, nodes)
	w.session.heard(preScore, pod, verdict(w, status))
	return status
}

// watchedScore learns the scores before they are normalized.
type watchedScore struct {
	framework.ScorePlugin
	session *session
}

func (w watchedScore) ScoreExtensions() framework.ScoreExtensions {
	if next := w.ScorePlugin.ScoreExtensions(); next != nil {
		return watchedNormalize{next, w}
	}
	return nil
}

type watchedNormalize struct {
	framework.ScoreExtensions
	of watchedScore
}

func (w watchedNormalize) NormalizeScore(ctx context.Context, state framework.CycleState, pod *v1.Pod, list framework.NodeScoreList) *framework.Status {
	w.of.session.normalizes(w.of.Name(), list)
	return w.ScoreExtensions.NormalizeScore(ctx, state, pod, list)
}

// normalizes takes down the raw scores of a plugin. Plugins normalize side by side.
func (s *session) normalizes(plugin string, list framework.NodeScoreList) {
	c := s.current.Load()
	if c == nil {
		return
	}
	numbers := make([]int64, len(list))
	for i, score := range list {
		numbers[i] = score.Score
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.raw == nil {
		c.raw = map[string][]int64{}
	}
	c.raw[plugin] = numbers
}

type watchedReserve struct {
	framework.ReservePlugin
	session *session
}

func (w watchedReserve) Reserve(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := w.ReservePlugin.Reserve(ctx, state, pod, node)
	w.session.heard(reserve, pod, verdict(w, status))
	return status
}

type watchedPermit struct {
	framework.PermitPlugin
	session *session
}

func (w watchedPermit) Permit(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) (*framework.Status, time.Duration) {
	status, timeout := w.PermitPlugin.Permit(ctx, state, pod, node)
	said := verdict(w, status)
	said.Timeout = timeout
	w.session.heard(permit, pod, said)
	return status, timeout
}

type watchedPreBind struct {
	framework.PreBindPlugin
	session *session
}

func (w watchedPreBind) PreBindPreFlight(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) (*framework.PreBindPreFlightResult, *framework.Status) {
	result, status := w.PreBindPlugin.PreBindPreFlight(ctx, state, pod, node)
	if !status.IsSuccess() { // else it is asked again
		w.session.heard(preBind, pod, verdict(w, status))
	}
	return result, status
}

func (w watchedPreBind) PreBind(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := w.PreBindPlugin.PreBind(ctx, state, pod, node)
	w.session.heard(preBind, pod, verdict(w, status))
	return status
}

type watchedBind struct {
	framework.BindPlugin
	session *session
}

func (w watchedBind) Bind(ctx context.Context, state framework.CycleState, pod *v1.Pod, node string) *framework.Status {
	status := w.BindPlugin.Bind(ctx, state, pod, node)
	w.session.heard(bind, pod, verdict(w, status))
	return status
}
