package page

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/util/retry"
	"k8s.io/kubectl/pkg/drain"
	"k8s.io/kubernetes/pkg/util/taints"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

func (p *page) node(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	n := p.cluster.now().byName[name]
	if n == nil {
		return notFound("Node " + name + " does not exist.")
	}
	drain := p.jobs.drainOf(name)
	if drain != nil && drain.Ended() && !n.Spec.Unschedulable {
		drain = nil // it is history
	}
	tools, pods := newToolbar(r, "", nil, nil), slices.Clone(n.Pods)
	sortPods(pods, tools.Sort)
	return p.show(w, r, "node", name, "cluster", map[string]any{
		"Node": n, "Self": r.URL.String(), "Tools": tools, "Pods": cut(pods, r, "page", podsPerPage), "Drain": drain,
		"Events": p.happened("Node", "", name),
	})
}

// Bare is how many pods of the node have no controller, which would recreate them.
func (n *nodeView) Bare() (bare int) {
	for _, pod := range n.Pods {
		if metav1.GetControllerOf(pod) == nil && pod.Annotations[v1.MirrorPodAnnotationKey] == "" {
			bare++
		}
	}
	return bare
}

// drainOf is the last drain of a node, or nil.
func (j *jobs) drainOf(node string) *job {
	all := j.list()
	i := slices.IndexFunc(all, func(one *job) bool { return one.Drains == node })
	if i < 0 {
		return nil
	}
	return all[i]
}

// asKubectl is kubectl's own code for cordon and drain. With Force it also deletes pods that
// have no controller: the page asks first.
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

// cordon cordons a node, or uncordons it with the query "off".
func (p *page) cordon(w http.ResponseWriter, r *http.Request) error {
	name, off, done := r.PathValue("name"), r.URL.Query().Has("off"), "Cordoned "
	if off {
		done = "Uncordoned "
	}
	return answer(w, done+name, false, p.setCordon(r.Context(), name, !off))
}

// drain cordons a node and evicts its pods. It retries until the budgets allow all
// evictions, or somebody stops it.
func (p *page) drain(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	last := p.jobs.drainOf(name)
	if last != nil && !last.Ended() {
		return p.await(w, r, last)
	}
	return p.await(w, r, p.jobs.add(&job{Title: "Draining " + name, Drains: name}, p.evict))
}

// evict reports to the job what kubectl's library reports to it.
func (p *page) evict(ctx context.Context, job *job) (outcome, error) {
	if err := p.setCordon(ctx, job.Drains, true); err != nil {
		return outcome{}, err
	}
	helper := p.asKubectl(ctx)
	leaving, errs := helper.GetPodsForDeletion(job.Drains)
	if len(errs) > 0 {
		return outcome{}, utilerrors.NewAggregate(errs)
	}
	pods := leaving.Pods()
	job.progress(0, len(pods))
	helper.ErrOut = refusals{job}
	helper.OnPodDeletionOrEvictionFinished = func(_ *v1.Pod, _ bool, err error) {
		if err == nil {
			job.update(func(at *progress) { at.Done++ })
		}
	}
	err := helper.DeleteOrEvictPods(pods)
	all := report.Plural(len(pods), "pod")
	if ctx.Err() != nil {
		at := job.Progress()
		stopped := fmt.Sprintf("stopped after %d of %s; the node stays cordoned", at.Done, all)
		return outcome{}, problems{{Message: strings.Join(append([]string{stopped}, at.Phases...), "; ")}}
	}
	return outcome{Notice: fmt.Sprintf("Drained %s: %s evicted", job.Drains, all)}, err
}

// refusals take lines on refused evictions. The progress of the job shows the last one.
type refusals struct{ job *job }

func (r refusals) Write(line []byte) (int, error) {
	r.job.update(func(at *progress) { at.Phases = []string{strings.TrimSpace(string(line))} })
	return len(line), nil
}

func (p *page) taintForm(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, "taint", "Taint "+r.PathValue("name"), "", r.PathValue("name"))
}

// taint adds or removes a taint, in kubectl's notation: of the form, or of a button's query.
func (p *page) taint(w http.ResponseWriter, r *http.Request) error {
	name, spec := r.PathValue("name"), strings.TrimSpace(r.FormValue("taint"))
	notice := fmt.Sprintf("Node %s: taint %s", name, spec)
	err := p.setTaint(r.Context(), name, spec)
	switch {
	case r.URL.Query().Has("taint"):
		return answer(w, notice, false, err)
	case err != nil:
		return problemsOf(err)
	}
	return done(w, r, notice)
}

func (p *page) setTaint(ctx context.Context, name, spec string) error {
	add, remove, err := taints.ParseTaints([]string{spec})
	if err != nil {
		return fmt.Errorf("%w: write key=value:NoSchedule or key:NoSchedule, or the same with a - at the end to remove the taint; "+
			"other effects are PreferNoSchedule and NoExecute", err)
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
