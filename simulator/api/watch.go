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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// watched are the kinds that listwatchresources streams, with the parameter of the
// query that names the resource version to begin at.
var watched = map[string]string{
	"pods": "pods", "nodes": "nodes", "persistentvolumes": "pvs", "persistentvolumeclaims": "pvcs",
	"storageclasses": "scs", "priorityclasses": "pcs", "namespaces": "namespace",
}

// event is a change, as kube-scheduler-simulator writes it.
type event struct {
	Kind      string
	EventType watch.EventType
	Obj       any
}

// watch streams changes, one JSON object on each line, until the client goes or
// a watch fails; the client then begins again.
func (h handler) watch(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.sim.Context(), cancel)()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := &stream{encoder: json.NewEncoder(w), controller: http.NewResponseController(w)}
	_ = out.controller.Flush()
	group, ctx := errgroup.WithContext(ctx)
	for kind, parameter := range watched {
		group.Go(func() error { return out.follow(ctx, kind, h.getter(kind), from(r.URL.Query(), parameter)) })
	}
	_ = group.Wait() // the status is out already
	return nil
}

func (h handler) getter(kind string) cache.Getter {
	switch client := h.sim.Client(); kind {
	case "storageclasses":
		return client.StorageV1().RESTClient()
	case "priorityclasses":
		return client.SchedulingV1().RESTClient()
	default:
		return client.CoreV1().RESTClient()
	}
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

type stream struct {
	mu         sync.Mutex
	encoder    *json.Encoder
	controller *http.ResponseController
}

func (s *stream) send(kind string, is watch.EventType, object runtime.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	if err := s.encoder.Encode(event{kind, is, object}); err != nil {
		return err
	}
	return s.controller.Flush()
}

// follow sends what there is, unless the client knows it already, and then what
// changes.
func (s *stream) follow(ctx context.Context, kind string, client cache.Getter, version string) error {
	lw := cache.NewListWatchFromClient(client, kind, metav1.NamespaceAll, fields.Everything())
	if version == "" {
		list, err := lw.ListWithContext(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		added := func(item runtime.Object) error { return s.send(kind, watch.Added, item) }
		if err := meta.EachListItem(list, added); err != nil {
			return err
		}
		version = list.(metav1.ListInterface).GetResourceVersion()
	}
	_, err := watchtools.Until(ctx, version, lw, func(e watch.Event) (end bool, err error) {
		if e.Type == watch.Error {
			return true, fmt.Errorf("the watch of %s has ended", kind)
		}
		return false, s.send(kind, e.Type, e.Object)
	})
	return err
}
