package door

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"wasmkwokwizardry.io/regex-scheduling/bench/work"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender"
	"wasmkwokwizardry.io/regex-scheduling/internal/extender/config"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func init() {
	Register(ofExtender("extender-v1", "the HTTP extender over loopback, full nodes", false))
	Register(ofExtender("extender-v2", "the HTTP extender over loopback, nodes' names", true))
}

func ofExtender(name, about string, names bool) Door {
	return Door{
		Name: name, Role: Ours, About: about,
		Open: func(_ context.Context, cluster *work.Cluster) (Session, error) {
			server, err := startExtender()
			if err != nil {
				return nil, err
			}
			client, err := scheduler.NewHTTPExtender(&schedulerapi.Extender{
				URLPrefix: server.url(), FilterVerb: "filter", NodeCacheCapable: names,
				HTTPTimeout: metav1.Duration{Duration: time.Minute},
			})
			if err != nil {
				return nil, errors.Join(err, server.stop())
			}
			return &extenderSession{cluster: cluster, client: client, server: server}, nil
		},
		Serve: func(context.Context) (Service, error) {
			server, err := startExtender()
			if err != nil {
				return Service{}, err
			}
			return Service{Config: extenderConfig(server.url(), names), Close: server.stop}, nil
		},
	}
}

// extenderSession asks with kube-scheduler's own client.
type extenderSession struct {
	cluster *work.Cluster
	client  fwk.Extender
	server  *extenderServer
}

// Cycle implements Session. A pattern that is refused comes back as an error
// which names the annotation: no node passes then.
func (s *extenderSession) Cycle(pod *v1.Pod, feasible []string) ([]string, error) {
	infos, _, _, err := s.client.Filter(pod, s.cluster.Infos)
	if err != nil {
		if strings.Contains(err.Error(), regex.Annotation) {
			return feasible, nil
		}
		return feasible, err
	}
	for _, info := range infos {
		feasible = append(feasible, info.Node().Name)
	}
	return feasible, nil
}

// Filtered implements Session: an extender gets all nodes at once.
func (*extenderSession) Filtered() int { return 0 }

// Close implements Session.
func (s *extenderSession) Close() error { return s.server.stop() }

// extenderServer is the extender as cmd/extender would serve it.
type extenderServer struct {
	listener net.Listener
	cancel   context.CancelFunc
	done     chan error
}

func startExtender() (*extenderServer, error) {
	c := config.Default()
	c.Timeouts.Unready.Duration = 0
	if err := c.Complete(); err != nil {
		return nil, err
	}
	e, err := extender.New(extender.Options{Config: c, Logger: logr.Discard(), Version: "bench"})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &extenderServer{listener: listener, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- e.Serve(ctx, listener) }()
	return s, nil
}

func (s *extenderServer) url() string { return "http://" + s.listener.Addr().String() }

func (s *extenderServer) stop() error {
	s.cancel()
	return <-s.done
}

func extenderConfig(url string, names bool) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 100000, burst: 100000}
percentageOfNodesToScore: 100
extenders:
- urlPrefix: %s
  filterVerb: filter
  nodeCacheCapable: %v
  httpTimeout: 60s
`, url, names)
}
