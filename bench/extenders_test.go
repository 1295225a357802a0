package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// ofExtender is the extender over loopback, which is sent full nodes or names.
func ofExtender(name string, names bool) *variant {
	return &variant{
		name: name, overHTTP: true,
		open: func(c *cluster) (session, error) {
			server, err := startExtender()
			if err != nil {
				return nil, err
			}
			return askExtender(c, "http://"+server.Address, names, server.Stop)
		},
		serve: func(tb testing.TB) service {
			server, err := startExtender()
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(func() { _ = server.Stop() })
			return service{config: configuration + fmt.Sprintf(`percentageOfNodesToScore: 100
extenders:
- urlPrefix: http://%s
  filterVerb: filter
  preemptVerb: preempt
  nodeCacheCapable: %v
  httpTimeout: 60s
`, server.Address, names)}
		},
	}
}

func startExtender() (*extender.Running, error) {
	return extender.Start(extender.Options{Logger: logr.Discard(), Version: "bench"})
}

// overHTTP is a session with kube-scheduler's own client of extenders.
type overHTTP struct {
	cluster *cluster
	client  fwk.Extender
	close   func() error
}

func askExtender(c *cluster, url string, names bool, stop func() error) (session, error) {
	client, err := scheduler.NewHTTPExtender(&schedulerapi.Extender{
		URLPrefix: url, FilterVerb: "filter", NodeCacheCapable: names, HTTPTimeout: metav1.Duration{Duration: time.Minute},
	})
	return &overHTTP{cluster: c, client: client, close: stop}, err
}

// Cycle implements session. For a rejected pattern the error names the annotation, and no
// node passes.
func (s *overHTTP) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	passed, _, _, err := s.client.Filter(pod, s.cluster.Nodes)
	if err != nil && !strings.Contains(err.Error(), regex.Annotation) {
		return nil, err
	}
	for _, node := range passed {
		feasible = append(feasible, node.Node().Name)
	}
	return feasible, nil
}

// Close implements session.
func (s *overHTTP) Close() error { return s.close() }

// ofLeastServer is the least that a server can do: it reads a request, and writes the
// extender's response to the first one of its kind.
func ofLeastServer(name string, names bool) *variant {
	return &variant{name: name, role: floor, overHTTP: true, open: func(c *cluster) (session, error) {
		e, err := startExtender()
		if err != nil {
			return nil, err
		}
		least := &leastServer{extender: "http://" + e.Address + "/filter"}
		server := httptest.NewServer(least)
		asked, err := askExtender(c, server.URL, names, func() error { server.Close(); return e.Stop() })
		return &leastSession{session: asked, server: least}, err
	}}
}

type leastServer struct {
	extender string
	request  bytes.Buffer
	answer   []byte // nil: not known yet
}

// ServeHTTP implements http.Handler, for one request at a time.
func (s *leastServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.request.Reset()
	_, err := s.request.ReadFrom(r.Body)
	if err == nil && s.answer == nil {
		s.answer, err = s.ask()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(s.answer)))
	_, _ = w.Write(s.answer)
}

func (s *leastServer) ask() ([]byte, error) {
	response, err := http.Post(s.extender, "application/json", bytes.NewReader(s.request.Bytes()))
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	return answer, errors.Join(err, response.Body.Close())
}

// leastSession makes the server fetch another response for another pattern.
type leastSession struct {
	session
	server  *leastServer
	pattern *string
}

// Cycle implements session.
func (s *leastSession) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	if pattern := pod.Annotations[regex.Annotation]; s.pattern == nil || *s.pattern != pattern {
		s.pattern, s.server.answer = &pattern, nil
	}
	return s.session.Cycle(pod, feasible)
}
