package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

const parallelism = 16

// NotImported are the objects that an import skipped, since the API server
// rejected them. All others are there.
type NotImported []Notice

func (n NotImported) Error() string {
	var all []string
	for _, notice := range n {
		all = append(all, notice.String())
	}
	return "import: " + strings.Join(all, "; ")
}

// Import makes the objects of a snapshot in a cluster, and updates the ones that exist already.
// progress, which may be nil, gets how many of how many are done, from several
// goroutines. Objects that the API server rejects do not stop it: the error is then a
// [NotImported]. It may change the snapshot. Of a copy of a real cluster, Jobs and CronJobs are among these: nothing runs in their
// pods here, so that they would complete at once. Their pods stay.
//
// References to owners follow these to the UIDs that they have here. Those to
// owners that are not here are dropped, since the garbage collector would delete
// what they own.
func Import(ctx context.Context, client kubernetes.Interface, in *Snapshot, progress func(done, of int)) error {
	in.dropSystems()
	in.NameClaims()
	missing := in.missing()
	for _, kind := range Kinds {
		var failed error
		kind.Drop(missing, func(o Object) bool {
			there, err := kind.isThere(ctx, client, o)
			failed = cmp.Or(failed, err)
			return there
		})
		if failed != nil {
			return fmt.Errorf("import: %w", failed)
		}
	}
	in.add(missing)
	if progress == nil {
		progress = func(int, int) {}
	}
	i := &importing{client: client, progress: progress, rejected: in.dropJobs()}
	i.total = in.Objects()
	for _, last := range []bool{false, true} {
		for _, kind := range Kinds {
			if err := i.put(ctx, kind, in, last); err != nil {
				return fmt.Errorf("import: %w", err)
			}
		}
	}
	if len(i.rejected) == 0 {
		return nil
	}
	return NotImported(Grouped(i.rejected))
}

// dropJobs drops the Jobs and the CronJobs of a copy of a real cluster.
func (s *Snapshot) dropJobs() (dropped NotImported) {
	if s.Source == nil || s.Source.Taken.IsZero() {
		return nil
	}
	for _, kind := range []Kind{KindNamed("CronJob"), KindNamed("Job")} {
		kind.Drop(s, func(o Object) bool {
			dropped = append(dropped, Notice{kind.Title + " " + qualified(o), "skipped: it would complete at once, since nothing runs here; its pods stay"})
			return true
		})
	}
	return dropped
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

// importing is an import under way.
type importing struct {
	client   kubernetes.Interface
	total    int
	done     atomic.Int64
	progress func(done, of int)
	until    time.Time // when what was made before has settled
	uids     sync.Map  // from what was to what is

	mu       sync.Mutex
	rejected NotImported
}

// qualified is the name of an object, with its namespace if it has one.
func qualified(o metav1.Object) string { return cache.MetaObjectToName(o).String() }
