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
	"k8s.io/client-go/tools/cache"
)

const parallelism = 16

// Importer makes the objects of snapshots in a cluster, in parts: what comes later
// may be owned by what came before.
type Importer struct {
	Client kubernetes.Interface

	uids sync.Map // from what was to what is
}

// Pod imports a pod of a snapshot that is complete.
func (i *Importer) Pod(ctx context.Context, pod v1.Pod) error {
	one := &importing{Importer: i, total: 1}
	if err := one.put(ctx, KindNamed("Pod"), &Snapshot{Pods: []v1.Pod{pod}}, func(Object) bool { return true }); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return one.left()
}

// NotImported are the objects that an import skipped, since the API server
// rejected them. All others are there.
type NotImported []Notice

func (n NotImported) Error() string {
	all := make([]string, len(n))
	for i := range n {
		all[i] = n[i].String()
	}
	return "import: " + strings.Join(all, "; ")
}

// Import makes the objects of a snapshot, and updates the ones that exist already.
// progress, which may be nil, gets how many of how many are done, from several
// goroutines. Objects that the API server rejects do not stop it: the error is then a
// [NotImported]. It may change the snapshot.
//
// References to owners follow these to the UIDs that they have here. Those to
// owners that are not here are dropped, since the garbage collector would delete
// what they own.
func (i *Importer) Import(ctx context.Context, in *Snapshot, progress func(done, of int)) error {
	err := in.complete(func(kind Kind, o Object) (bool, error) { return kind.isThere(ctx, i.Client, o) })
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	part := &importing{Importer: i, progress: progress, total: in.Objects()}
	for _, kind := range Kinds {
		if err := part.put(ctx, kind, in, func(o Object) bool { return !comesLast(o) }); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	for _, kind := range []string{"Pod", "LimitRange", "ResourceQuota"} {
		if err := part.put(ctx, KindNamed(kind), in, comesLast); err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	return part.left()
}

// comesLast reports whether a pod has no node: pods that have one take their room
// before, and of what is for pods that are made later alone.
func comesLast(o Object) bool {
	switch o := o.(type) {
	case *v1.Pod:
		return o.Spec.NodeName == ""
	case *v1.LimitRange, *v1.ResourceQuota:
		return true
	}
	return false
}

// importing is a part of an import under way.
type importing struct {
	*Importer
	total    int
	done     atomic.Int64
	progress func(done, of int)
	until    time.Time // when what was made before has settled

	mu       sync.Mutex
	rejected NotImported
}

func (i *importing) left() error {
	if len(i.rejected) == 0 {
		return nil
	}
	sortNotices(i.rejected)
	return i.rejected
}

// Owned are the references to owners that are here, or have been imported.
func (i *Importer) Owned(by []metav1.OwnerReference) []metav1.OwnerReference {
	var here []metav1.OwnerReference
	for _, owner := range by {
		if uid, ok := i.uids.Load(owner.UID); ok {
			owner.UID = uid.(types.UID)
			here = append(here, owner)
		}
	}
	return here
}

// qualified is the name of an object, with its namespace if it has one.
func qualified(o metav1.Object) string { return cache.MetaObjectToName(o).String() }
