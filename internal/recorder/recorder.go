// Package recorder keeps kube-scheduler's attempts: the verdict of each plugin and each
// extender on each node, and why.
//
// It stands between the scheduler, its frameworks and their plugins ([Recorder.Attach])
// and does not change what they decide. It keeps a bounded number of attempts in memory
// and writes nothing to the cluster.
package recorder

import (
	"container/list"
	"maps"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of a recorder. Past one, the oldest attempt is forgotten first, and the last attempt of a
// pending pod after all others.
const (
	// MaxPerPod is the number of attempts that are kept for a pod.
	MaxPerPod = 20
	// MaxBytes is about the memory that all of them take, unless a recorder has another bound.
	MaxBytes = 128 << 20
	// sparsePerPod is MaxPerPod of a sparse recorder.
	sparsePerPod = 5
)

// Recorder keeps attempts. It outlives the schedulers that it is attached to. Set its fields before Attach.
type Recorder struct {
	MaxBytes    int                // about how many bytes of attempts are kept
	WithoutRaw  bool               // keep normalized scores only, which take less memory
	Only        func(*v1.Pod) bool // says whose attempts are kept. Nil: those of all pods
	OnScheduled func(*v1.Pod)      // gets each pod that is bound. It must not block
	// OnEnd, if it is set, gets the result of each attempt, and the plugin or extender that rejects most
	// nodes, or empty. It must not block, either, and must not call the recorder.
	OnEnd func(result Result, plugin string)
	// OnDrop, if it is set, is called for each attempt that is forgotten for want of memory, and like OnEnd.
	OnDrop func(ofPending bool)

	sparse    bool // see NewSparse
	maxPerPod int
	changed   func()

	mu        sync.Mutex
	lastID    uint64
	pods      map[types.NamespacedName][]*record // the oldest first
	last      list.List                          // the last ones of pending pods, likewise
	order     list.List                          // all others, likewise
	bytes     int                                // that they take, estimated
	dropped   Dropped
	preempted map[types.NamespacedName]eviction
}

// New makes a recorder. It calls changed after each change; changed must not block, and
// must not call the recorder.
func New(changed func()) *Recorder {
	return &Recorder{
		MaxBytes: MaxBytes, OnScheduled: func(*v1.Pod) {}, maxPerPod: MaxPerPod, changed: changed,
		pods: map[types.NamespacedName][]*record{}, preempted: map[types.NamespacedName]eviction{},
	}
}

// NewSparse makes a recorder that costs little while it records: it has the verdicts on nodes only of
// attempts that find none, as the scheduler itself reports them, and the scores of the best
// nodes only. Attempts for pods that are alike share what they have in common.
func NewSparse(maxBytes int) *Recorder {
	r := New(func() {})
	r.MaxBytes, r.maxPerPod, r.sparse, r.WithoutRaw = maxBytes, sparsePerPod, true, true
	return r
}

// Wants says whether the recorder keeps the attempts for a pod. A nil one keeps none.
func (r *Recorder) Wants(pod *v1.Pod) bool { return r != nil && (r.Only == nil || r.Only(pod)) }

// Dropped counts the attempts that were forgotten for want of memory.
type Dropped struct {
	Attempts uint64 `json:"attempts"`
	// OfPending counts the ones that were the last attempt of a pending pod.
	OfPending uint64 `json:"ofPendingPods"`
}

// Dropped returns how many attempts were forgotten, and about how many bytes the others take.
func (r *Recorder) Dropped() (Dropped, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dropped, r.bytes
}

// Gone says that a pod was deleted. Its last attempt is kept as others are.
func (r *Recorder) Gone(namespace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	if len(kept) > 0 {
		r.settle(kept[len(kept)-1])
	}
}

// Attempts returns the attempts for a pod, the newest first.
func (r *Recorder) Attempts(namespace, name string) []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempts := []Attempt{}
	for _, rec := range slices.Backward(r.pods[types.NamespacedName{Namespace: namespace, Name: name}]) {
		attempts = append(attempts, r.copy(rec))
	}
	return attempts
}

// Latest returns the newest attempt for a pod that has ended.
func (r *Recorder) Latest(namespace, name string) (Attempt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range slices.Backward(r.pods[types.NamespacedName{Namespace: namespace, Name: name}]) {
		if rec.Result != Pending {
			return r.copy(rec), true
		}
	}
	return Attempt{}, false
}

// Attempt returns one of a pod's attempts.
func (r *Recorder) Attempt(namespace, name string, id uint64) (Attempt, bool) {
	for _, a := range r.Attempts(namespace, name) {
		if a.ID == id {
			return a, true
		}
	}
	return Attempt{}, false
}

// copy is an attempt, with the pod's later preemption.
func (r *Recorder) copy(rec *record) Attempt {
	a := rec.copy()
	out, ok := r.preempted[rec.pod()]
	if ok && string(out.uid) == rec.UID && rec.Result == Scheduled {
		a.Preempted = &out.Preempted
	}
	return a
}

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []*list.List{&r.order, &r.last} {
		for of.Len() > 0 {
			r.forget(of.Front().Value.(*record))
		}
	}
	r.changed()
}

func (r *Recorder) add(rec *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	rec.ID, rec.Number = r.lastID, 1
	pod := rec.pod()
	kept := r.pods[pod]
	n := len(kept)
	if n > 0 {
		r.settle(kept[n-1])
	}
	if n > 0 && kept[n-1].UID == rec.UID {
		rec.Number = kept[n-1].Number + 1
	}
	r.pods[pod] = append(kept, rec)
	rec.in, rec.at = &r.last, r.last.PushBack(rec)
	if len(kept) == r.maxPerPod {
		r.forget(kept[0])
	}
	r.charge(rec, baseBytes)
	r.changed()
}

// settle is called when an attempt is not the last one of a pending pod any more.
func (r *Recorder) settle(rec *record) {
	if rec.in == &r.last {
		rec.in.Remove(rec.at)
		rec.in, rec.at = &r.order, r.order.PushBack(rec)
	}
}

// end is called when an attempt has ended, with the lock held.
func (r *Recorder) end(rec *record) {
	if rec.Result == Scheduled {
		r.settle(rec)
	}
	if r.OnEnd != nil {
		r.OnEnd(rec.Result, rec.rejectedBy())
	}
}

// rejectedBy is the plugin that rejects the pod itself, or else the one that rejects most nodes.
func (r *record) rejectedBy() string {
	for _, v := range r.verdicts[preFilter] {
		if v.Verdict == Rejected {
			return v.Plugin
		}
	}
	causes := r.Causes()
	if len(causes) == 0 || causes[0].Column < 0 {
		return ""
	}
	return r.profile.columns[causes[0].Column].Name
}

func (r *Recorder) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	r.changed()
}

// keep gives an attempt the verdicts on nodes and their scores. The caller holds the lock.
func (r *Recorder) keep(rec *record, groups []Group, s *scoring) {
	rec.Groups, rec.scoring = groups, s
	if r.sparse && len(groups) > 0 {
		before := rec.profile.lastGroups
		rec.profile.lastGroups = groups
		if slices.EqualFunc(groups, before, Group.equal) {
			rec.Groups, rec.profile.lastGroups, groups = before, before, nil
		}
	}
	r.charge(rec, bytesOf(groups, s))
}

// charge counts the memory of an attempt, and forgets old ones past the bound.
func (r *Recorder) charge(rec *record, bytes int) {
	if rec.in == nil {
		return // forgotten meanwhile
	}
	rec.bytes += bytes
	r.bytes += bytes
	for r.bytes > r.MaxBytes && r.order.Len()+r.last.Len() > 1 {
		oldest := r.order.Front()
		ofPending := oldest == nil
		if ofPending {
			oldest = r.last.Front()
			r.dropped.OfPending++
		}
		r.dropped.Attempts++
		r.forget(oldest.Value.(*record))
		if r.OnDrop != nil {
			r.OnDrop(ofPending)
		}
	}
}

// forget drops an attempt, the oldest of its pod.
func (r *Recorder) forget(rec *record) {
	rec.in.Remove(rec.at)
	rec.in, rec.at = nil, nil
	r.bytes -= rec.bytes
	if len(rec.victims) > 0 {
		maps.DeleteFunc(r.preempted, func(_ types.NamespacedName, e eviction) bool { return e.by == rec })
	}
	pod := rec.pod()
	kept := r.pods[pod]
	if len(kept) > 1 {
		r.pods[pod] = append(kept[:0:0], kept[1:]...)
	} else {
		delete(r.pods, pod)
	}
}

// record is an attempt as it is kept: copy adds what attempts of a profile share. The
// recorder's lock guards it.
type record struct {
	Attempt
	profile  *profile
	verdicts verdicts

	preempts  bool     // PostFilter runs, or has nominated a node
	nominated string   // that node
	victims   []string // as namespace/name

	bytes int           // that it takes, estimated
	in    *list.List    // which of the recorder's lists it is in, or nil: forgotten
	at    *list.Element // of that list
}

func (r *record) pod() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// copy is the attempt for callers. What it shares with the record is immutable.
func (r *record) copy() Attempt {
	a, v := r.Attempt, r.verdicts.clone()
	if a.PodGroup != nil {
		group := *a.PodGroup // its attempt may not have ended
		a.PodGroup = &group
	}
	a.Scheduler, a.Columns = r.profile.name, append([]Column{}, r.profile.columns...)
	a.PreFilter, a.PreScore, a.Reserve = v[preFilter], v[preScore], v[reserve]
	a.Permit, a.PreBind, a.Bind = v[permit], v[preBind], v[bind]
	a.ScoreColumns = r.scoring.heads()
	if r.nominated != "" { // else there was no preemption, whatever PostFilter answered
		a.Preemption = &Preemption{Node: r.nominated, Victims: append([]string{}, r.victims...)}
	}
	for _, v := range a.PreFilter {
		column := r.profile.columnOf(v.Plugin)
		if column >= 0 {
			a.Columns[column].Skipped = v.Verdict == Skipped
		}
	}
	a.count()
	return a
}

func (a *Attempt) count() {
	for _, g := range a.Groups {
		a.Total += g.Len()
		if g.Verdict != NotRun && g.Verdict != Excluded {
			a.Evaluated += g.Len()
		}
		if g.Column >= 0 && g.Verdict != NotRun {
			a.Columns[g.Column].Failed += g.Len()
		}
	}
}

// set records the first verdict of a plugin.
func (r *record) set(p point, verdict PluginVerdict) {
	list := r.verdicts[p]
	i := slices.IndexFunc(list, func(v PluginVerdict) bool { return v.Plugin == verdict.Plugin })
	if i >= 0 && list[i].Verdict == NotRun {
		list[i] = verdict
	}
}

const (
	// baseBytes is about the memory of an attempt without its nodes.
	baseBytes = 4 << 10
	// groupBytes is about the memory of a group without its nodes and its reason.
	groupBytes = 128
)

// bytesOf is about the memory of the verdicts on nodes and of their scores.
func bytesOf(groups []Group, s *scoring) (bytes int) {
	for _, g := range groups {
		bytes += groupBytes + len(g.Reason) + 4*len(g.Places)
	}
	if s == nil {
		return bytes
	}
	bytes += 4 * len(s.Places)
	for _, column := range s.Columns {
		bytes += 8*(len(column.raw)+len(column.Given)) + len(column.Normalized)
	}
	return bytes
}
