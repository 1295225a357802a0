package kubescheduler

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/kubernetes/pkg/scheduler"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// serveAttempts serves the decisions of a scheduler that has tried a pod on some nodes with long names.
func serveAttempts(t *testing.T, nodes int) *httptest.Server {
	t.Helper()
	for i := range nodes {
		addNode(t, fmt.Sprintf("%s-%d", strings.Repeat("n", 55), i))
	}
	s := &decisionServer{
		recorder: recorder.NewSparse(64 << 20), since: time.Now(), answers: semaphore.NewWeighted(mostAtOnce),
		may: func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionAllow, "", nil
		},
	}
	s.leads.Store(true)
	start(t, Options{Kubeconfig: cluster.Kubeconfig(), Config: profileWith(t, "RegexScheduling", "{}"), Prepare: func(sched *scheduler.Scheduler) error {
		s.recorder.Attach(sched, func(url string) string { return url })
		return nil
	}})
	create(t, podFor("pending", "^absent$"))
	waitFor(t, "pending", isPending)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r.WithContext(request.WithUser(r.Context(), &user.DefaultInfo{Name: "somebody"})))
	}))
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = conn.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// TestSlowReadersAreCut has as many of them as there may be answers at once.
func TestSlowReadersAreCut(t *testing.T) {
	server := serveAttempts(t, 300)
	address := strings.TrimPrefix(server.URL, "http://")
	for range mostAtOnce {
		conn, err := net.Dial("tcp", address)
		testkit.Must(t, err)
		defer conn.Close()
		testkit.Must(t, conn.(*net.TCPConn).SetReadBuffer(1<<10))
		fmt.Fprintf(conn, "GET %sdefault/pending HTTP/1.1\r\nHost: scheduler\r\n\r\n", decisions.Path)
	}
	testkit.Eventually(t, "another reader is served", func(ctx context.Context) error {
		response, err := http.Get(server.URL + decisions.Path + "default/pending")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || len(text) < 300*55) {
			err = fmt.Errorf("%s with %d bytes", response.Status, len(text))
		}
		return err
	})
}

func TestHundredRequestsAtOnceAreAnswered(t *testing.T) {
	server := serveAttempts(t, 3)
	statuses := make([]int, 100)
	var asked sync.WaitGroup
	for i := range statuses {
		asked.Go(func() {
			response, err := http.Get(server.URL + decisions.Path + "default/pending")
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			statuses[i] = response.StatusCode
		})
	}
	asked.Wait()
	for i, status := range statuses {
		testkit.Equal(t, status, http.StatusOK, "request %d", i)
	}
}

func TestCausesAreFew(t *testing.T) {
	for plugin, want := range map[string]string{
		"WasmRegexScheduling": "regex", "RegexScheduling": "regex", "NodeResourcesFit": "resources", "InterPodAffinity": "affinity", "NodeAffinity": "affinity",
		"PodTopologySpread": "affinity", "TaintToleration": "taints", "NodeUnschedulable": "taints", "VolumeBinding": "volumes", "http://extender/": "other", "": "other",
	} {
		testkit.Equal(t, causeOf(recorder.Unschedulable, plugin), want, "%s", plugin)
	}
	testkit.Equal(t, causeOf(recorder.Scheduled, ""), "", "the cause of a pod that was placed")
}
