package bench

import (
	"fmt"
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
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
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
		serve: func(tb testing.TB) string {
			server, err := startExtender()
			testkit.Must(tb, err)
			tb.Cleanup(func() { _ = server.Stop() })
			return configuration + fmt.Sprintf(`percentageOfNodesToScore: 100
extenders:
- urlPrefix: http://%s
  filterVerb: filter
  preemptVerb: preempt
  nodeCacheCapable: %v
  httpTimeout: 60s
`, server.Address, names)
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
