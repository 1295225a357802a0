package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/util/retry"
	"k8s.io/kubectl/pkg/drain"
	"k8s.io/kubernetes/pkg/util/taints"

	"wasmkwokwizardry.io/regex-scheduling/whatif/compare/report"
)

func (p *page) node(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	n := p.cluster.now().byName[name]
	if n == nil {
		return notThere("Node " + name + " does not exist (any more).")
	}
	return p.show(w, r, "node", name, "cluster", map[string]any{
		"Node": n, "Self": r.URL.String(), "Pods": cut(n.Pods, r, "page", podsPerPage), "Drain": p.drainOf(n),
	})
}

// Bare is how many pods of the node nothing makes anew once they are evicted.
func (n *nodeView) Bare() int {
	return len(slices.DeleteFunc(slices.Clone(n.Pods), func(pod *v1.Pod) bool {
		return metav1.GetControllerOf(pod) != nil || pod.Annotations[v1.MirrorPodAnnotationKey] != ""
	}))
}

// drainOf is what is known of the last time that a node was drained. Once it takes
// pods again, that is of no interest.
func (p *page) drainOf(n *nodeView) *job {
	all := p.jobs.list()
	i := slices.IndexFunc(all, func(one *job) bool { return one.Drains == n.Name })
	if i < 0 || all[i].Ended() && !n.Spec.Unschedulable {
		return nil
	}
	return all[i]
}

// asKubectl does with nodes what kubectl does. As with its --force, pods go that
// nothing makes anew: the page asks before.
func (p *page) asKubectl(ctx context.Context) *drain.Helper {
	return &drain.Helper{
		Ctx: ctx, Client: p.sim.Client(), Out: io.Discard, ErrOut: io.Discard,
		Force: true, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
		GracePeriodSeconds: -1, EvictErrorRetryDelay: time.Second,
	}
}

func (p *page) setCordon(ctx context.Context, name string, to bool) error {
	node, err := p.sim.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return drain.RunCordonOrUncordon(p.asKubectl(ctx), node, to)
}

// cordon keeps new pods from a node, or with the query "off" does so no longer.
func (p *page) cordon(w http.ResponseWriter, r *http.Request) error {
	name, off, done := r.PathValue("name"), r.URL.Query().Has("off"), "Cordoned "
	if off {
		done = "Uncordoned "
	}
	return tell(w, done+name, p.setCordon(r.Context(), name, !off))
}

// tell makes the browser show what was done, or what went wrong, and leave open what
// is open.
func tell(w http.ResponseWriter, done string, err error) error {
	if err != nil {
		done = err.Error()
	}
	notify(w, done, false)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// drain cordons a node and evicts its pods, until budgets have let all of them go or
// somebody stops it.
func (p *page) drain(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	all := p.jobs.list()
	if i := slices.IndexFunc(all, func(one *job) bool { return one.Drains == name && !one.Ended() }); i >= 0 {
		return p.await(w, r, all[i])
	}
	return p.await(w, r, p.jobs.add(&job{Title: "Draining " + name, Drains: name}, func(ctx context.Context, at *job) outcome {
		return p.evict(ctx, at, name)
	}))
}

func (p *page) evict(ctx context.Context, at *job, name string) outcome {
	if err := p.setCordon(ctx, name, true); err != nil {
		return outcome{Problems: because(err)}
	}
	helper := p.asKubectl(ctx)
	leaving, errs := helper.GetPodsForDeletion(name)
	if len(errs) > 0 {
		return outcome{Problems: because(utilerrors.NewAggregate(errs))}
	}
	pods := leaving.Pods()
	state := evicting{job: at, of: len(pods)}
	helper.ErrOut, helper.OnPodDeletionOrEvictionFinished = &state, state.finished
	err := helper.DeleteOrEvictPods(pods)
	if ctx.Err() != nil {
		stopped := fmt.Sprintf("stopped after %d of %s; the node stays cordoned", state.done.Load(), report.Plural(state.of, "pod"))
		return outcome{Problems: because(errors.New(strings.Join(append([]string{stopped}, state.refused()...), "; ")))}
	}
	if err != nil {
		return outcome{Problems: because(err)}
	}
	return outcome{Notice: fmt.Sprintf("Drained %s: %s evicted", name, report.Plural(state.of, "pod"))}
}

// evicting tells a job how far an eviction is, of which kubectl's library tells it.
type evicting struct {
	job  *job
	of   int
	done atomic.Int64
	last atomic.Pointer[string] // what was refused last
}

func (e *evicting) finished(_ *v1.Pod, _ bool, err error) {
	if err == nil {
		e.done.Add(1)
	}
	e.tell()
}

// Write takes a line on a pod that may not be evicted yet.
func (e *evicting) Write(line []byte) (int, error) {
	refused := strings.TrimSpace(string(line))
	e.last.Store(&refused)
	e.tell()
	return len(line), nil
}

func (e *evicting) refused() (lines []string) {
	if last := e.last.Load(); last != nil {
		lines = append(lines, *last)
	}
	return lines
}

func (e *evicting) tell() {
	e.job.tell(progress{Done: int(e.done.Load()), Of: e.of, Phases: e.refused()})
}

func (p *page) taintForm(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "taint", "Taint "+r.PathValue("name"), "", r.PathValue("name"))
}

// taint does as kubectl taint with what a form, or else the query, says.
func (p *page) taint(w http.ResponseWriter, r *http.Request) error {
	name, spec := r.PathValue("name"), strings.TrimSpace(r.FormValue("taint"))
	done := fmt.Sprintf("Node %s: taint %s", name, spec)
	err := p.setTaint(r.Context(), name, spec)
	switch {
	case r.URL.Query().Has("taint"):
		return tell(w, done, err)
	case err != nil:
		return finish(w, r, "", because(err))
	}
	return finish(w, r, done, nil)
}

func (p *page) setTaint(ctx context.Context, name, spec string) error {
	add, remove, err := taints.ParseTaints([]string{spec})
	if err != nil {
		return fmt.Errorf("%w: write key=value:NoSchedule or key:NoSchedule, and - behind it to take it away; or PreferNoSchedule, or NoExecute", err)
	}
	nodes := p.sim.Client().CoreV1().Nodes()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		before := len(node.Spec.Taints)
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(old v1.Taint) bool {
			return slices.ContainsFunc(slices.Concat(add, remove), func(t v1.Taint) bool {
				return t.Key == old.Key && (t.Effect == "" || t.Effect == old.Effect)
			})
		})
		if len(remove) > 0 && len(node.Spec.Taints) == before {
			return fmt.Errorf("node %s has no taint %s", name, strings.TrimSuffix(spec, "-"))
		}
		node.Spec.Taints = append(node.Spec.Taints, add...)
		_, err = nodes.Update(ctx, node, metav1.UpdateOptions{FieldManager: author})
		return err
	})
}
