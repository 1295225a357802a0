package fit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	deploymentutil "k8s.io/kubernetes/pkg/controller/deployment/util"
	"k8s.io/utils/ptr"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine/timeline"
)

// Fitting is the result for manifests in a copy of a cluster.
type Fitting struct {
	Tried   int `json:"tried"`   // pods of the manifests
	Pending int `json:"pending"` // pods without a node, of these and of preempted ones
	// NotCreated are of Tried the pods that the API server rejects.
	NotCreated int                `json:"notCreated,omitempty"`
	Workloads  []*Workload        `json:"workloads"` // what makes pods
	Preempted  []engine.Move      `json:"preempted,omitempty"`
	Skipped    map[string]int     `json:"skipped,omitempty"`  // of the manifests, by kind
	Ignored    map[string]int     `json:"ignored,omitempty"`  // of which it is not known whether they create pods
	Repeated   []string           `json:"repeated,omitempty"` // of the manifests, that are there with other contents, too
	Rollout    bool               `json:"rollout,omitempty"`  // whether rollouts end was asked
	Timeline   *timeline.Timeline `json:"timeline,omitempty"`
	Rejected   []string           `json:"rejected,omitempty"`   // objects that make no pods, by what an API server says of them
	Namespaces []string           `json:"namespaces,omitempty"` // that were created, since neither the cluster nor the manifests have them
	UntilFull  bool               `json:"untilFull,omitempty"`  // replicas were added, and Pods are what fits
	Growth     *Growth            `json:"growth,omitempty"`     // nil if no nodes were to be added
	Took       time.Duration      `json:"tookNanoseconds"`      // of all runs
	Basis      report.Basis       `json:"basis"`
}

// count distinguishes runs: it is a number, and what it is the number of.
func (f *Fitting) count() (n int, of string) {
	switch {
	case f.UntilFull:
		return f.Tried - f.Pending - f.NotCreated, "further replicas"
	case f.Growth != nil && f.Pending == 0:
		return f.Growth.Nodes, "further nodes"
	}
	return f.Pending + f.NotCreated, "pods without a node"
}

// worse reports whether another run has a better result.
func (f *Fitting) worse(than *Fitting) bool {
	n, _ := f.count()
	other, _ := than.count()
	switch {
	case f.UntilFull:
		return n < other
	case f.Pending+f.NotCreated == than.Pending+than.NotCreated:
		return n > other
	}
	return f.Pending+f.NotCreated > than.Pending+than.NotCreated
}

// Workload is what makes pods, or a pod, and their result.
type Workload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Unknown   bool   `json:"unknown,omitempty"`   // its kind is not known: its pod template is tried, without an owner
	Replaced  int    `json:"replaced,omitempty"`  // its pods in the cluster, which go
	Stuck     string `json:"stuck,omitempty"`     // why its rollout does not end
	Unchanged string `json:"unchanged,omitempty"` // why an API server rejects its change: it stays as it is in the cluster
	Kept      int    `json:"kept,omitempty"`      // its pods in the cluster, which stay
	// KeptFields are fields of its spec that stay as the cluster has them, though its manifest does not have them so.
	KeptFields []string `json:"keptFields,omitempty"`
	// ChangedInPlace: a Pod's spec changes, as its image, and the pod stays.
	ChangedInPlace bool           `json:"changedInPlace,omitempty"`
	Fit            int            `json:"fit"`             // how many of its pods have a node
	Zones          map[string]int `json:"zones,omitempty"` // how many of these are in each
	Why            map[string]int `json:"why,omitempty"`   // how many are pending, by the scheduler's message
	// NotCreated is how many the API server rejects, by its message.
	NotCreated map[string]int `json:"notCreated,omitempty"`
	// InTurn: of a Job, pods that are pending, or are not created, take the places of ended ones.
	InTurn bool `json:"inTurn,omitempty"`
	// Pods are their names with their nodes, which are empty for pending ones.
	Pods map[string]string `json:"pods"`
	// Feasible is how many nodes the scheduler could choose from, by the pod's name. Where it is 1,
	// there was no choice; pods that preempted others are not in it.
	Feasible map[string]int `json:"feasible,omitempty"`
	// Sampled: the scheduler may not have looked at all nodes, so that more may be feasible.
	Sampled bool `json:"sampled,omitempty"`

	object   snapshot.Object
	earlier  []snapshot.Object              // of its name, that are applied before
	replicas int                            // until it is full: how many it has
	wanted   int                            // pods of an Unknown kind
	bare     []types.NamespacedName         // the pods of a Pod
	ran      []*v1.Pod                      // its pods before
	stayed   sets.Set[types.NamespacedName] // of these
	lacking  map[string][]string            // resources, by the messages of Why
	rejected error                          // why an API server rejects it
}

// places are how many of its pods are in which zone, such as "2 in a", and how many are in none if
// others are in some.
func (w *Workload) places() (places []string) {
	rest := w.Fit
	for _, zone := range slices.Sorted(maps.Keys(w.Zones)) {
		places = append(places, fmt.Sprintf("%d in %s", w.Zones[zone], zone))
		rest -= w.Zones[zone]
	}
	if len(places) > 0 && rest > 0 {
		places = append(places, fmt.Sprintf("%d in no zone", rest))
	}
	return places
}

// Old is how many pods of an old revision are left running.
func (w *Workload) Old() int { return len(w.stayed) - w.Kept }

func (w *Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

// sum takes note of where pods are.
func (f *fitting) sum() {
	found := &f.found
	found.Tried = 0
	found.Pending = 0
	found.NotCreated = 0
	for _, w := range found.Workloads {
		f.sumOf(w)
		found.Pending += total(w.Why)
		found.NotCreated += total(w.NotCreated)
		found.Tried += w.Tried()
	}
	found.Preempted = f.engine.Moves(f.before, slices.DeleteFunc(slices.Clone(f.before.Placed), func(pod *v1.Pod) bool { return !f.engine.WasPreempted(pod) }))
	for _, move := range found.Preempted {
		if move.To == "" {
			found.Pending++
		}
	}
	slices.SortFunc(found.Preempted, func(a, b engine.Move) int {
		return cmp.Or(cmp.Compare(min(1, len(a.To)), min(1, len(b.To))), cmp.Compare(a.Pod, b.Pod))
	})
}

func total(counts map[string]int) (n int) {
	for _, times := range counts {
		n += times
	}
	return n
}

func (f *fitting) sumOf(w *Workload) {
	w.Fit = 0
	w.Zones = map[string]int{}
	w.Why = map[string]int{}
	w.lacking = map[string][]string{}
	w.NotCreated = map[string]int{}
	w.Feasible = map[string]int{}
	w.Sampled = false
	w.Pods = map[string]string{}
	w.Replaced, w.Kept = 0, 0
	w.stayed = sets.New[types.NamespacedName]()
	ran := slices.Clone(w.ran)
	for _, pod := range f.adopted {
		if f.makes(w, pod) {
			ran = append(ran, pod)
		}
	}
	for _, pod := range ran {
		now := cluster.Get[*v1.Pod](f.engine.Cluster, pod.Namespace, pod.Name)
		switch {
		case !f.engine.Has(pod) && !f.engine.WasPreempted(pod):
			w.Replaced++
		case f.engine.Has(pod) && f.makes(w, now) && !podutil.IsPodTerminal(now):
			w.stayed.Insert(cluster.NameOf(pod))
		}
	}
	_, isPod := w.object.(*v1.Pod)
	named := w.podSpec().NodeName
	lost := "" // why its pods do not last, which are created again and again
	if named != "" && cluster.Get[*v1.Node](f.engine.Cluster, "", named) == nil {
		lost = "spec.nodeName is " + named + ", which is not there: it is deleted"
	}
	for _, name := range f.podsOf(w) {
		o := f.engine.Outcome(name)
		if o.State == engine.Rejected && !isPod {
			lost = o.Reason()
			continue
		}
		w.Pods[name.Name] = o.Node
		if w.stayed.Has(name) {
			w.Kept++
		}
		held := ""
		pod := cluster.Get[*v1.Pod](f.engine.Cluster, name.Namespace, name.Name)
		if pod != nil {
			held = f.engine.Cluster.NotStarted(pod)
		}
		if o.Node == "" || held != "" {
			o.Message = cmp.Or(held, lost, o.Message)
			w.Why[o.Reason()]++
			w.lacking[o.Reason()] = o.Against.Lacking
			continue
		}
		w.Fit++
		if o.Feasible > 0 {
			w.Feasible[name.Name] = o.Feasible
			w.Sampled = w.Sampled || o.Sampled
		}
		node := cluster.Get[*v1.Node](f.engine.Cluster, "", o.Node)
		if node != nil && node.Labels[v1.LabelTopologyZone] != "" {
			w.Zones[node.Labels[v1.LabelTopologyZone]]++
		}
	}
	_, isJob := w.object.(*batchv1.Job)
	w.InTurn = isJob && w.rejected == nil && w.Fit > 0
	missing := f.wants(w) - len(w.Pods)
	if w.rejected != nil && !isPod {
		missing = max(1, w.asked())
	}
	if missing <= 0 {
		return
	}
	rejected := f.rejection(w)
	if rejected != "" {
		w.NotCreated[snapshot.Reason(rejected)] += missing
		return
	}
	w.Why[cmp.Or(lost, f.missing(w))] += missing
}

// asked is how many pods the manifest asks for, as far as it says so.
func (w *Workload) asked() int {
	if w.Unknown {
		return w.wanted
	}
	return wantedBy(w.object)
}

// Tried is how many of its pods were tried.
func (w *Workload) Tried() int { return w.Fit + total(w.Why) + total(w.NotCreated) }

// makes says whether a pod is one of a workload.
func (f *fitting) makes(w *Workload, pod *v1.Pod) bool {
	of := f.engine.Cluster.WorkloadOf(pod)
	return pod.Namespace == w.Namespace && (of == cluster.Workload{Kind: w.Kind, Name: w.Name} || of.Kind == "" && w.Kind == "Pod" && pod.Name == w.Name)
}

// podsOf are the pods of the newest revision of a workload, or of any while it is paused.
func (f *fitting) podsOf(w *Workload) (names []types.NamespacedName) {
	if _, isPod := w.object.(*v1.Pod); isPod {
		return w.bare
	}
	updated := f.updated(w)
	for _, pod := range cluster.In[*v1.Pod](f.engine.Cluster, w.Namespace) {
		if f.makes(w, pod) && pod.DeletionTimestamp == nil && updated(pod) {
			names = append(names, cluster.NameOf(pod))
		}
	}
	return names
}

// updated says which pods of a workload its controller takes for those of the newest revision.
func (f *fitting) updated(w *Workload) func(*v1.Pod) bool {
	switch o := f.engine.Cluster.Current(w.object).(type) {
	case *appsv1.Deployment:
		sets := slices.DeleteFunc(cluster.In[*appsv1.ReplicaSet](f.engine.Cluster, w.Namespace), func(set *appsv1.ReplicaSet) bool { return !metav1.IsControlledBy(set, o) })
		newest := deploymentutil.FindNewReplicaSet(o, sets)
		return func(pod *v1.Pod) bool { return o.Spec.Paused || newest != nil && metav1.IsControlledBy(pod, newest) }
	case *appsv1.StatefulSet:
		return func(pod *v1.Pod) bool {
			return pod.Labels[appsv1.ControllerRevisionHashLabelKey] == o.Status.UpdateRevision
		}
	case *appsv1.DaemonSet:
		newest := &appsv1.ControllerRevision{}
		for _, revision := range cluster.In[*appsv1.ControllerRevision](f.engine.Cluster, w.Namespace) {
			if metav1.IsControlledBy(revision, o) && revision.Revision > newest.Revision {
				newest = revision
			}
		}
		generation, _ := daemonutil.GetTemplateGeneration(o) // which an API server has written
		return func(pod *v1.Pod) bool {
			return daemonutil.IsPodUpdated(pod, newest.Labels[appsv1.ControllerRevisionHashLabelKey], generation)
		}
	}
	return func(*v1.Pod) bool { return true }
}

// wants is how many pods of its newest revision a workload wants by now.
func (f *fitting) wants(w *Workload) int {
	o := f.engine.Cluster.Current(w.object)
	_, isPod := w.object.(*v1.Pod)
	set, isDaemonSet := o.(*appsv1.DaemonSet)
	stateful, isStatefulSet := o.(*appsv1.StatefulSet)
	d, isDeployment := o.(*appsv1.Deployment)
	switch {
	case isPod:
		return max(w.asked(), w.replicas)
	case o == nil: // it is rejected itself
		return max(1, w.asked())
	case isDaemonSet && f.rejection(w) != "": // or else it has a pod for each node
		return int(set.Status.DesiredNumberScheduled)
	case isDeployment && d.Spec.Paused: // it scales its ReplicaSets, and creates none
		wanted := 0
		for _, set := range cluster.In[*appsv1.ReplicaSet](f.engine.Cluster, w.Namespace) {
			if metav1.IsControlledBy(set, d) {
				wanted += int(ptr.Deref(set.Spec.Replicas, 1))
			}
		}
		return wanted
	case isStatefulSet && stateful.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return wantedBy(o) - outdated(o)
	}
	return wantedBy(o) - partitioned(o)
}

func wantedBy(o cluster.Object) int {
	replicas := replicasOf(o)
	job, isJob := o.(*batchv1.Job)
	_, isPod := o.(*v1.Pod)
	switch {
	case isPod:
		return 1
	case replicas == nil: // or as many as there are nodes for a DaemonSet
		return 0
	case isJob && ptr.Deref(job.Spec.Suspend, false):
		return 0
	case isJob && job.Spec.Completions != nil:
		return int(min(*job.Spec.Completions, ptr.Deref(*replicas, 1)))
	}
	return int(ptr.Deref(*replicas, 1))
}

// replicasOf is the field of how many pods an object wants, if it has one.
func replicasOf(o cluster.Object) **int32 {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	case *v1.ReplicationController:
		return &o.Spec.Replicas
	case *appsv1.StatefulSet:
		return &o.Spec.Replicas
	case *batchv1.Job:
		return &o.Spec.Parallelism
	}
	return nil
}

// setReplicas has an object want so many pods.
func setReplicas(o cluster.Object, n int32) {
	*replicasOf(o) = &n
	job, isJob := o.(*batchv1.Job)
	if isJob {
		job.Spec.Completions = ptr.To[int32](MostReplicas) // which may not change, and are not what counts
	}
}

// rejection is why the API server rejects a workload or its pods, or empty.
func (f *fitting) rejection(w *Workload) string {
	if w.rejected != nil {
		return w.rejected.Error()
	}
	return f.engine.Cluster.RejectionOf(w.Namespace, cluster.Workload{Kind: w.Kind, Name: w.Name})
}

// missing is why a workload has fewer pods than it wants, if none is rejected.
func (f *fitting) missing(w *Workload) string {
	o := f.engine.Cluster.Current(w.object)
	d, isDeployment := o.(*appsv1.Deployment)
	if w.Kind == "StatefulSet" || isDeployment && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		for _, pod := range cluster.In[*v1.Pod](f.engine.Cluster, w.Namespace) {
			held := f.engine.Cluster.Terminating(pod)
			if held != "" && f.makes(w, pod) {
				return "its " + w.Kind + " creates it when pod " + pod.Name + " is gone: " + held
			}
		}
	}
	if !isDeployment {
		return cmp.Or(f.engine.Missing(o.GetUID(), w.Kind, w.Namespace), "its controller does not create it")
	}
	return "its Deployment does not create it before others of the rollout are ready"
}

// Fits reports whether no pod would stay pending or, until it is full, whether a replica of each workload fits.
func (f *Fitting) Fits() bool {
	if slices.ContainsFunc(f.Workloads, func(w *Workload) bool { return w.Stuck != "" }) {
		return false
	}
	pending, notCreated, _ := f.lacking()
	return pending+notCreated+f.rejected() == 0 || f.UntilFull && !slices.ContainsFunc(f.Workloads, func(w *Workload) bool { return w.Fit == 0 })
}

// rejected is how many objects are rejected, but for workloads that are new: of these, the pods count.
func (f *Fitting) rejected() int {
	all := len(f.Rejected)
	for _, w := range f.Workloads {
		all += min(1, len(w.Unchanged))
	}
	return all
}

// lacking is how many pods stay pending, are not created, and start when others of their Job have ended.
func (f *Fitting) lacking() (pending, notCreated, inTurn int) {
	pending = f.Pending
	for _, w := range f.Workloads {
		if w.InTurn {
			pending -= total(w.Why)
			inTurn += total(w.Why) + total(w.NotCreated)
		} else {
			notCreated += total(w.NotCreated)
		}
	}
	return pending, notCreated, inTurn
}

// Verdict is the result in a line, without an end.
func (f *Fitting) Verdict() string { return f.Basis.Qualify(f.verdict()) }

func (f *Fitting) verdict() string {
	var text string
	pending, notCreated, inTurn := f.lacking()
	switch {
	case f.Rollout:
		text = f.sentence()
	case f.UntilFull:
		var all []string
		for _, w := range f.Workloads {
			one := w.More() + " more replica"
			if w.Fit != 1 {
				one += "s"
			}
			if len(f.Workloads) > 1 {
				one += " of " + w.String()
			}
			all = append(all, one)
		}
		text = strings.Join(all, ", ") + " would fit"
	case f.Pending+f.NotCreated > 0:
		var all []string
		if pending > 0 {
			all = append(all, report.Plural(pending, "pod")+" would stay pending")
		}
		if notCreated > 0 {
			all = append(all, report.Plural(notCreated, "pod")+" would not be created")
		}
		if inTurn > 0 {
			all = append(all, report.Plural(inTurn, "pod")+" would start when others of the Job have ended")
		}
		text = strings.Join(all, ", and ")
		if f.Growth != nil && f.Growth.Nodes > 0 {
			text += ", even with " + f.Growth.String()
		}
	case f.Tried == 0:
		text = "No pod is wanted: there are no replicas, no node for a DaemonSet, a new Deployment is paused, or pods of an old revision stay until they are deleted"
	default:
		text = report.Plural(f.Tried, "pod") + " would fit"
		if f.Growth != nil && f.Growth.Nodes > 0 {
			text += " with " + f.Growth.String()
		} else if f.Growth != nil {
			text += " without another node"
		}
	}
	if f.rejected() > 0 {
		text += ", and " + report.Plural(f.rejected(), "object") + " would be rejected"
	}
	if len(f.Preempted) > 0 {
		text += ", and " + report.Plural(len(f.Preempted), "pod") + " would be preempted"
	}
	return text
}

// Counts are the numbers of an answer.
type Counts struct {
	Pods       int `json:"pods"`    // of the manifests
	Fit        int `json:"fit"`     // of these, with a node
	Pending    int `json:"pending"` // of these and of preempted ones, without a node
	NotCreated int `json:"notCreated"`
	Preempted  int `json:"preempted"`
	Rejected   int `json:"rejected"` // objects that the API server rejects
}

// Counts counts the pods of the result.
func (f *Fitting) Counts() Counts {
	c := Counts{Pods: f.Tried, Pending: f.Pending, NotCreated: f.NotCreated, Preempted: len(f.Preempted), Rejected: f.rejected()}
	for _, w := range f.Workloads {
		c.Fit += w.Fit
	}
	return c
}

// MarshalJSON writes the answer first.
func (f Fitting) MarshalJSON() ([]byte, error) {
	type fields Fitting
	return json.Marshal(struct {
		Verdict string `json:"verdict"`
		Counts  Counts `json:"counts"`
		fields
	}{f.Verdict(), f.Counts(), fields(f)})
}

// Report is the result for people, with each pod's node if asked for.
func (f *Fitting) Report(nodes bool) report.Report {
	var workloads, preempted []report.Item
	first := map[string]string{} // workloads by reason
	for _, w := range f.byCause(nodes) {
		workloads = append(workloads, w.item(f, nodes, first))
	}
	for _, move := range f.Preempted {
		then := "it would stay pending: " + move.Reason
		if move.To != "" {
			then = "recreated, it fits " + move.To
		}
		preempted = append(preempted, report.Item{Text: fmt.Sprintf("%s on %s would be preempted by %s: %s", move.Pod, move.From, move.PreemptedBy, then)})
	}
	for _, message := range f.Rejected {
		workloads = append(workloads, report.Item{Text: "Rejected: " + message})
	}
	last := f.Basis.String() + " It took " + report.Brief(f.Took) + "."
	if len(f.Namespaces) > 0 {
		last = "Not in the cluster, and created here first: namespace " + report.Few(f.Namespaces) + ". " + last
	}
	if len(f.Ignored) > 0 {
		last = "Not tried, and perhaps it makes pods: " + report.Counted(f.Ignored) + ". " + last
	}
	if len(f.Repeated) > 0 {
		last = "More than once in the manifests, and applied one after the other: " + report.Few(f.Repeated) + ". " + last
	}
	if len(f.Skipped) > 0 {
		last = "Skipped, since it creates no pods now and no pod depends on it: " + report.Counted(f.Skipped) + ". " + last
	}
	return report.Report{Answer: f.Verdict() + ".", Sections: slices.Concat(
		[]report.Section{f.Basis.Lacking(), {List: workloads}}, report.Once(f.Timeline.Sections(), nil), []report.Section{{List: preempted}},
		f.Basis.Remedies(), []report.Section{{Text: []string{last}}},
	)}
}

// byCause are the workloads. Pods that do not fit for the same cause are one, unless each is listed.
func (f *Fitting) byCause(nodes bool) (all []*Workload) {
	first, names := map[string]*Workload{}, map[string][]string{}
	var reasons []string
	for _, w := range f.Workloads {
		reasons = slices.AppendSeq(reasons, maps.Keys(w.Why))
	}
	same := report.SameBut(reasons)
	for _, w := range f.Workloads {
		why := map[string]int{}
		for reason, n := range w.Why {
			why[same[reason]] += n
		}
		cause := fmt.Sprint(why, w.NotCreated, w.podSpec().NodeName)
		switch {
		case w.Kind != "Pod" || w.Fit > 0 || f.UntilFull || nodes:
			all = append(all, w)
		case first[cause] == nil:
			one := *w
			one.Why, one.NotCreated = maps.Clone(w.Why), maps.Clone(w.NotCreated)
			first[cause] = &one
			all = append(all, &one)
		default:
			names[cause] = append(names[cause], w.Namespace+"/"+w.Name)
			for reason, n := range w.Why {
				first[cause].Why[reason] += n
			}
			for reason, n := range w.NotCreated {
				first[cause].NotCreated[reason] += n
			}
		}
	}
	for cause, more := range names {
		first[cause].Name = report.Few(append([]string{first[cause].Name}, more...))
	}
	return all
}

// item says how many of its pods fit, and why no more do.
// A reason that an earlier workload has, too, is not repeated.
func (w *Workload) item(f *Fitting, nodes bool, first map[string]string) report.Item {
	item := report.Item{Text: fmt.Sprintf("%s: %d of %d fit", w, w.Fit, w.Tried())}
	if f.UntilFull {
		item.Text = w.String() + ": " + w.More() + " more fit"
	}
	places := w.places()
	if len(places) > 0 {
		item.Text += ": " + strings.Join(places, ", ")
	}
	old := w.Old()
	var before []string
	state := "unchanged"
	if w.ChangedInPlace {
		state = "changed in place"
	}
	if w.Kept > 0 {
		before = append(before, fmt.Sprintf("%d running, %s", w.Kept, state))
	}
	if w.Replaced > 0 && w.Tried() == w.Kept {
		before = append(before, fmt.Sprintf("%d deleted", w.Replaced))
	} else if w.Replaced > 0 {
		before = append(before, fmt.Sprintf("replacing %d running", w.Replaced))
	}
	if old > 0 {
		before = append(before, fmt.Sprintf("%d of the old revision left running", old))
	}
	if len(before) > 0 && !f.UntilFull {
		item.Text += " (" + strings.Join(before, "; ") + ")"
	}
	pending, notCreated := "stay pending", "not be created"
	if w.InTurn {
		pending, notCreated = "start when others of the Job have ended", "be created when others of the Job have ended"
	}
	if f.UntilFull {
		item.Lines = []string{w.limit()}
	} else {
		same := report.SameBut(slices.Collect(maps.Keys(w.Why)))
		pods := map[string]int{}
		for why, n := range w.Why {
			pods[same[why]] += n
		}
		for _, why := range slices.Sorted(maps.Keys(pods)) {
			pods := report.Plural(pods[why], "pod") + " would " + pending
			if first[why] == "" {
				first[why] = w.String()
				item.Lines = append(item.Lines, pods+": "+why)
			} else {
				item.Lines = append(item.Lines, pods+", for the reason of "+first[why])
			}
		}
		for _, why := range slices.Sorted(maps.Keys(w.NotCreated)) {
			item.Lines = append(item.Lines, report.Plural(w.NotCreated[why], "pod")+" would "+notCreated+": "+engine.Rejection(why))
		}
	}
	if w.Unchanged != "" {
		item.Lines = append(item.Lines, "It stays as it is in the cluster: "+engine.Rejection(w.Unchanged))
	}
	if w.Stuck != "" {
		item.Lines = append(item.Lines, "The rollout does not end: "+w.Stuck)
	}
	d, isDeployment := w.object.(*appsv1.Deployment)
	if isDeployment && d.Spec.Paused {
		item.Lines = append(item.Lines, "Its Deployment is paused: it scales, and its template has no effect")
	}
	if len(w.KeptFields) > 0 {
		item.Lines = append(item.Lines, "The cluster keeps what its manifest does not have: "+report.Few(w.KeptFields))
	}
	if w.Unknown {
		item.Lines = append(item.Lines, "What a "+w.Kind+" does is not known: pods of its template are tried, without an owner")
	}
	named := w.podSpec().NodeName
	if named != "" {
		item.Lines = append(item.Lines, "No scheduler places them: spec.nodeName is "+named+", and its kubelet admits or rejects them")
	}
	if nodes {
		for _, name := range slices.Sorted(maps.Keys(w.Pods)) {
			place := engine.Place(w.Pods[name], w.Feasible[name], w.Sampled)
			if named != "" || w.stayed.Has(types.NamespacedName{Namespace: w.Namespace, Name: name}) {
				place = w.Pods[name]
			}
			item.Lines = append(item.Lines, name+": "+cmp.Or(place, "-"))
		}
	}
	return item
}

// More is how many more replicas fit, as far as that was tried.
func (w *Workload) More() string {
	if w.Fit == MostReplicas {
		return "at least 10,000"
	}
	return fmt.Sprint(w.Fit)
}

// limit says why no more replicas fit.
func (w *Workload) limit() string {
	if len(w.NotCreated) > 0 {
		return "The next one would not be created: " + engine.Rejection(slices.Min(slices.Collect(maps.Keys(w.NotCreated))))
	}
	if len(w.Why) == 0 {
		return "No more were tried."
	}
	why := slices.Min(slices.Collect(maps.Keys(w.Why)))
	text := "The next one would stay pending: " + why
	if len(w.lacking[why]) > 0 {
		text = "Limited by: " + strings.Join(w.lacking[why], ", ") + ". " + text
	}
	return text
}
