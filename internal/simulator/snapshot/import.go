package snapshot

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// parallelism is how many objects are written at once.
const parallelism = 16

// Options say how to import.
type Options struct {
	// Stays are the UIDs of objects that are no snapshot's and that references to
	// owners may go on to name.
	Stays map[types.UID]bool
	// Progress, which may be nil, is told how many of how many objects are done,
	// from several goroutines.
	Progress func(done, of int)
}

// NotImported are the objects that an import left out, since the API server
// refused them. All others are there.
type NotImported []Notice

func (n NotImported) Error() string {
	all := make([]string, len(n))
	for i := range n {
		all[i] = n[i].String()
	}
	return "import: " + strings.Join(all, "; ")
}

// Import makes the objects of a snapshot, and updates those that exist already.
// Objects that the API server refuses do not stop it: the error is then a
// [NotImported]. It may change the snapshot.
//
// References to owners follow these to the UIDs that they have here. Those to
// owners that are not here are dropped, since the garbage collector would delete
// what they own.
func Import(ctx context.Context, to kubernetes.Interface, in *Snapshot, o Options) error {
	in.dropSystems()
	nameClaims(in)
	if err := in.completeBeside(ctx, to); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	i := &importing{client: to, Options: o, total: in.Objects()}
	for _, kind := range Kinds {
		for _, which := range inTurn(kind) {
			i.until = time.Now().Add(settle)
			if err := kind.put(ctx, i, in, which); err != nil {
				return fmt.Errorf("import: %w", err)
			}
		}
	}
	if len(i.refused) > 0 {
		sortNotices(i.refused)
		return i.refused
	}
	return nil
}

// inTurn are the objects of a kind that are made first, and those that are made
// after them: pods that have a node take their room before any other looks for some.
func inTurn(kind Kind) []func(metav1.Object) bool {
	bound := func(o metav1.Object) bool {
		pod, ok := o.(*v1.Pod)
		return !ok || pod.Spec.NodeName != ""
	}
	if kind.Kind != "Pod" {
		return []func(metav1.Object) bool{bound}
	}
	return []func(metav1.Object) bool{bound, func(o metav1.Object) bool { return !bound(o) }}
}

// importing is an import under way.
type importing struct {
	client kubernetes.Interface
	Options
	total int
	done  atomic.Int64
	uids  sync.Map  // from what was to what is
	until time.Time // when what was made before has settled

	mu      sync.Mutex
	refused NotImported
}

// owned are the references to owners that are here.
func (i *importing) owned(by []metav1.OwnerReference) []metav1.OwnerReference {
	var here []metav1.OwnerReference
	for _, owner := range by {
		if uid, ok := i.uids.Load(owner.UID); ok {
			owner.UID = uid.(types.UID)
		} else if !i.Stays[owner.UID] {
			continue
		}
		here = append(here, owner)
	}
	return here
}

func (i *importing) step() {
	if done := i.done.Add(1); i.Progress != nil {
		i.Progress(int(done), i.total)
	}
}

// refuse notes what the API server does not take.
func (i *importing) refuse(about string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = append(i.refused, Notice{About: about, Reason: err.Error()})
}

func qualified(obj metav1.Object) string {
	if obj.GetNamespace() == "" {
		return obj.GetName()
	}
	return obj.GetNamespace() + "/" + obj.GetName()
}
