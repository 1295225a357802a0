package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// objectKeys is where kube-apiserver keeps objects, up to objectKeysEnd.
	objectKeys, objectKeysEnd = "/registry/", "/registry0"
	podKeys                   = objectKeys + "pods/"
	// serverLeases are renewed by servers that are alive: they must not go back in time.
	serverLeases = objectKeys + "leases/kube-system/"
)

// State is what etcd held of all objects at one time.
type State struct {
	objects  map[string]*mvccpb.KeyValue
	revision int64
}

// State reads all objects, but for the leases of servers.
func (c *Cluster) State(ctx context.Context) (*State, error) {
	all, err := c.etcd.etcd.Server.Range(ctx, &pb.RangeRequest{Key: []byte(objectKeys), RangeEnd: []byte(objectKeysEnd)})
	if err != nil {
		return nil, fmt.Errorf("read etcd: %w", err)
	}
	s := &State{objects: make(map[string]*mvccpb.KeyValue, len(all.Kvs)), revision: all.Header.Revision}
	for _, kv := range all.Kvs {
		key := string(kv.Key)
		if !strings.HasPrefix(key, serverLeases) {
			s.objects[key] = kv
		}
	}
	return s, nil
}

// Restoring is a cluster on its way back to a State.
type Restoring struct {
	cluster *Cluster
	missing []*mvccpb.KeyValue
	// kept are the revisions of the objects that are as they were, of all before revision.
	kept     map[int64]bool
	revision int64
}

// Clear deletes each object that is new since a State, or is not as it was then, from etcd
// itself: no finalizer and no grace period holds it back, and to watchers it is deleted.
// PutBack then recreates what is missing. Pause the controllers meanwhile.
//
// What has changed is deleted too, because clients do not expect some changes, such as that
// a pod is no longer bound.
func (c *Cluster) Clear(ctx context.Context, to *State) (*Restoring, error) {
	now, err := c.State(ctx)
	if err != nil {
		return nil, err
	}
	r := &Restoring{cluster: c, kept: map[int64]bool{}, revision: now.revision}
	for key, was := range to.objects {
		is := now.objects[key]
		if is != nil && bytes.Equal(is.Value, was.Value) {
			r.kept[is.ModRevision] = true
			delete(now.objects, key)
		} else if was.Lease == 0 { // else it expires, as events do
			r.missing = append(r.missing, was)
		}
	}
	deletions, ctx := writers(ctx)
	for key := range now.objects {
		deletions.Go(func() error {
			_, err := c.etcd.etcd.Server.DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte(key)})
			return err
		})
	}
	if err := deletions.Wait(); err != nil {
		return nil, fmt.Errorf("delete from etcd: %w", err)
	}
	return r, nil
}

// Deleted reports whether Clear has deleted an object, as a cache has it.
func (r *Restoring) Deleted(o metav1.Object) bool {
	revision, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	return err == nil && revision <= r.revision && !r.kept[revision]
}

// PutBack recreates what was there, with the UIDs that it had, and pods after all else: the
// scheduler places them as soon as it sees them.
func (r *Restoring) PutBack(ctx context.Context) error {
	var pods, others []*mvccpb.KeyValue
	for _, kv := range r.missing {
		if bytes.HasPrefix(kv.Key, []byte(podKeys)) {
			pods = append(pods, kv)
		} else {
			others = append(others, kv)
		}
	}
	for _, all := range [][]*mvccpb.KeyValue{others, pods} {
		if err := r.cluster.put(ctx, all); err != nil {
			return fmt.Errorf("write to etcd: %w", err)
		}
	}
	return nil
}

func (c *Cluster) put(ctx context.Context, all []*mvccpb.KeyValue) error {
	puts, ctx := writers(ctx)
	for _, kv := range all {
		puts.Go(func() error {
			_, err := c.etcd.etcd.Server.Put(ctx, &pb.PutRequest{Key: kv.Key, Value: kv.Value})
			return err
		})
	}
	return puts.Wait()
}

// writers write keys one by one: a transaction would give several objects one
// resourceVersion, and a watch that breaks and goes on after it would miss some of them.
func writers(ctx context.Context) (*errgroup.Group, context.Context) {
	const atOnce = 64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	return group, ctx
}
