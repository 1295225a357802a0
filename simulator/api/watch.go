package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// watched is a kind that listwatchresources streams.
type watched struct {
	resource string
	// parameter of the query names the resource version to begin at.
	parameter string
	client    cache.Getter
}

func (h handler) watched() []watched {
	client := h.sim.Client()
	core := client.CoreV1().RESTClient()
	return []watched{
		{"pods", "pods", core},
		{"nodes", "nodes", core},
		{"persistentvolumes", "pvs", core},
		{"persistentvolumeclaims", "pvcs", core},
		{"storageclasses", "scs", client.StorageV1().RESTClient()},
		{"priorityclasses", "pcs", client.SchedulingV1().RESTClient()},
		{"namespaces", "namespace", core},
	}
}

// event is a change, as kube-scheduler-simulator writes it.
type event struct {
	Kind      string
	EventType watch.EventType
	Obj       any
}

// watch streams changes, one JSON object on each line, until the client goes or
// a watch fails; the client then begins anew.
func (h handler) watch(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.sim.Context(), cancel)()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := &stream{encoder: json.NewEncoder(w), controller: http.NewResponseController(w)}
	_ = out.controller.Flush()
	group, ctx := errgroup.WithContext(ctx)
	for _, kind := range h.watched() {
		group.Go(func() error { return out.follow(ctx, kind, from(r.URL.Query(), kind.parameter)) })
	}
	_ = group.Wait() // the status is out already
	return nil
}

// from is the value of a parameter like podsLastResourceVersion, in the spelling
// of the documentation of kube-scheduler-simulator or in that of its code.
func from(query url.Values, parameter string) string {
	for name, values := range query {
		if strings.EqualFold(name, parameter+"LastResourceVersion") {
			return values[0]
		}
	}
	return ""
}

// stream writes events, of several kinds at once.
type stream struct {
	mu         sync.Mutex
	encoder    *json.Encoder
	controller *http.ResponseController
}

func (s *stream) send(e event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if obj, ok := e.Obj.(metav1.Object); ok {
		obj.SetManagedFields(nil)
	}
	if err := s.encoder.Encode(e); err != nil {
		return err
	}
	return s.controller.Flush()
}

// follow sends what there is, unless the client knows it already, and then what
// changes.
func (s *stream) follow(ctx context.Context, kind watched, version string) error {
	lw := cache.NewListWatchFromClient(kind.client, kind.resource, metav1.NamespaceAll, fields.Everything())
	if version == "" {
		var err error
		if version, err = s.list(ctx, lw, kind.resource); err != nil {
			return err
		}
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, version, lw)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, ok := <-watcher.ResultChan():
			if !ok || e.Type == watch.Error {
				return fmt.Errorf("the watch of %s has ended", kind.resource)
			}
			if err := s.send(event{kind.resource, e.Type, e.Object}); err != nil {
				return err
			}
		}
	}
}

func (s *stream) list(ctx context.Context, lw *cache.ListWatch, resource string) (version string, err error) {
	list, err := lw.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return "", err
	}
	for _, item := range items {
		if err := s.send(event{resource, watch.Added, item}); err != nil {
			return "", err
		}
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	return about.GetResourceVersion(), nil
}
