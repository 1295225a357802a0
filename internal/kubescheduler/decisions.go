package kubescheduler

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

// Bounds of the server of decisions.
const (
	mostAtOnce  = 32               // answers in memory; further requests wait
	longestWait = 15 * time.Second // of a request for its turn
	longestSend = 5 * time.Second  // of an answer, to a slow reader
)

// decisionServer answers requests below decisions.Path.
type decisionServer struct {
	recorder *recorder.Recorder
	may      func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error)
	lock     resourcelock.Interface // nil without leader election
	leads    atomic.Bool            // this replica schedules
	since    time.Time

	answers *semaphore.Weighted // in memory
	making  sync.Mutex          // one at a time: the CPU is for scheduling
}

// ServeHTTP implements http.Handler. The request is authenticated, and authorized for its path.
func (s *decisionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	namespace, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, decisions.Path), "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") || r.Method != http.MethodGet {
		http.Error(w, "GET "+decisions.Path+"NAMESPACE/POD", http.StatusNotFound)
		return
	}
	pod := types.NamespacedName{Namespace: namespace, Name: name}
	if !s.allowed(r, pod) {
		http.Error(w, fmt.Sprintf("you may not get pod %s", pod), http.StatusForbidden)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestWait)
	defer cancel()
	if s.answers.Acquire(ctx, 1) != nil {
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	defer s.answers.Release(1)
	status, kind, text := s.answer(ctx, pod, strings.HasPrefix(r.Header.Get("Accept"), "text/plain"))
	w.Header().Set("Content-Type", kind)
	sending := http.NewResponseController(w)
	_ = sending.SetWriteDeadline(time.Now().Add(longestSend)) // cannot fail: connections have deadlines
	w.WriteHeader(status)
	_, _ = w.Write(text)
	_ = sending.Flush()
}

// allowed reports whether the user may get the pod. A right to the path does not imply that.
func (s *decisionServer) allowed(r *http.Request, pod types.NamespacedName) bool {
	user, ok := request.UserFrom(r.Context())
	if !ok {
		return false
	}
	decision, _, err := s.may(r.Context(), authorizer.AttributesRecord{
		User: user, Verb: "get", APIVersion: "v1", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name, ResourceRequest: true,
	})
	return err == nil && decision == authorizer.DecisionAllow
}

// answer returns the attempts for a pod, as text or in JSON.
func (s *decisionServer) answer(ctx context.Context, pod types.NamespacedName, asText bool) (status int, kind string, text []byte) {
	s.making.Lock()
	defer s.making.Unlock()
	a := decisions.Answer{Pod: pod.String(), Time: time.Now(), Attempts: []decisions.Attempt{}}
	var sections []report.Section
	status = http.StatusOK
	if s.notLeading(ctx, &a) {
		status = http.StatusMisdirectedRequest
	} else {
		sections = s.fill(&a, pod)
	}
	if len(a.Attempts) == 0 && status == http.StatusOK {
		status = http.StatusNotFound
	}
	var err error
	if asText {
		var out bytes.Buffer
		err = report.Write(&out, "table", nil, report.Report{Answer: a.Verdict, Sections: sections})
		kind, text = "text/plain; charset=utf-8", out.Bytes()[:min(out.Len(), decisions.MaxBytes)]
	} else {
		kind = "application/json"
		text, err = a.Encode()
	}
	if err != nil {
		return http.StatusInternalServerError, "text/plain", []byte(err.Error() + "\n")
	}
	return status, kind, text
}

// notLeading reports whether this replica does not schedule. The answer then says which one does.
func (s *decisionServer) notLeading(ctx context.Context, a *decisions.Answer) bool {
	if s.lock != nil {
		a.Replica = s.lock.Identity()
	}
	if s.leads.Load() {
		return false
	}
	a.Verdict = "This scheduler has not begun to schedule."
	if s.lock != nil {
		lease, _, err := s.lock.Get(ctx)
		switch {
		case err != nil:
			a.Verdict = "This replica does not schedule, and does not know which one does: " + err.Error()
		case lease.HolderIdentity != a.Replica:
			a.Leader = lease.HolderIdentity
			a.Verdict = fmt.Sprintf("This replica does not schedule: %s leads.", a.Leader)
		}
	}
	return true
}

// fill adds the attempts for a pod, and returns the last one for people.
func (s *decisionServer) fill(a *decisions.Answer, pod types.NamespacedName) (sections []report.Section) {
	dropped, _ := s.recorder.Dropped()
	a.Dropped = dropped.Attempts
	attempts := s.recorder.Attempts(pod.Namespace, pod.Name)
	for i := range attempts {
		a.Attempts = append(a.Attempts, decisionOf(&attempts[i], i == 0))
	}
	if len(attempts) == 0 {
		a.Verdict = fmt.Sprintf("The scheduler has not tried pod %s since it began to schedule %s ago, or has forgotten that: it has dropped %s.",
			pod, report.Age(a.Time.Sub(s.since)), report.Plural(int(dropped.Attempts), "attempt"))
		return nil
	}
	last, ok := s.recorder.Latest(pod.Namespace, pod.Name)
	if !ok {
		a.Verdict = fmt.Sprintf("Pod %s is being tried for the first time, or waits for its binding.", pod)
		return nil
	}
	if last.Result == recorder.Scheduled {
		a.Verdict = fmt.Sprintf("Pod %s is not pending: it is on node %s.", pod, last.Node)
		return last.Sections()
	}
	a.Verdict = fmt.Sprintf("Pod %s is pending%s.", pod, strings.TrimSuffix(last.Because(last.Message+last.PodGroup.Note()), "."))
	age := report.Age(a.Time.Sub(last.Time.Add(last.Duration)))
	return append([]report.Section{{Text: []string{"The scheduler says: " + last.Message, fmt.Sprintf("Attempt %d ended %s ago.", last.Number, age)}}}, last.Sections()...)
}

// decisionOf is an attempt as it is served. It names no other pod: neither a preempted one, nor the one that a score
// hint comes from.
func decisionOf(a *recorder.Attempt, names bool) decisions.Attempt {
	d := decisions.Attempt{
		Number: a.Number, UID: a.UID, Scheduler: a.Scheduler, Time: a.Time, Duration: a.Duration, Result: string(a.Result), Node: a.Node,
		Message: decisions.Short(a.Message), Evaluated: a.Evaluated, Total: a.Total, Shortages: a.Shortages,
	}
	if a.Preemption != nil {
		d.Nominated, d.Preempted = a.Preemption.Node, len(a.Preemption.Victims)
	}
	for _, at := range []struct {
		point string
		of    []recorder.PluginVerdict
	}{{"PreFilter", a.PreFilter}, {"PreScore", a.PreScore}, {"Reserve", a.Reserve}, {"Permit", a.Permit}, {"PreBind", a.PreBind}, {"Bind", a.Bind}} {
		for _, v := range at.of {
			if v.Verdict == recorder.Rejected || v.Verdict == recorder.Errored || v.Verdict == recorder.Waits {
				d.Plugins = append(d.Plugins, decisions.Plugin{Point: at.point, Name: v.Plugin, Verdict: string(v.Verdict), Reason: decisions.Short(v.Reason)})
			}
		}
	}
	for _, g := range a.Causes() {
		nodes := decisions.Nodes{Verdict: string(g.Verdict), Reason: decisions.Short(g.Reason), Count: g.Len()}
		if g.Column >= 0 {
			nodes.Plugin = a.Columns[g.Column].Name
		}
		if names {
			nodes.Names = g.Nodes()
		}
		d.Nodes = append(d.Nodes, nodes)
	}
	for _, row := range a.Scores() {
		d.Scores = append(d.Scores, decisions.Score{Node: row.Node, Total: row.Total})
	}
	return d
}
