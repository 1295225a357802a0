package scheduler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/spdystream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/controlplane"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// liveCluster is a control plane on which schedulers run, each in a process of its own.
type liveCluster struct {
	*controlplane.Cluster
	kubernetes.Interface
}

const liveConfig = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
leaderElection: {leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, retryPeriod: 500ms}
profiles:
- plugins: {multiPoint: {enabled: [{name: RegexScheduling}]}}
`

func startCluster(t *testing.T) *liveCluster {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), controlplane.Config{})
	testkit.Must(t, err)
	t.Cleanup(func() { _ = plane.Stop() })
	c := &liveCluster{Cluster: plane}
	c.Interface, err = kubernetes.NewForConfig(plane.AdminConfig())
	testkit.Must(t, err)
	return c
}

// replica is a scheduler that runs.
type replica struct {
	address string
	process *exec.Cmd
	end     func()
}

// runReplica starts a scheduler, and waits until it serves.
func (c *liveCluster) runReplica(t *testing.T, args ...string) *replica {
	t.Helper()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	testkit.Must(t, os.WriteFile(authority, c.AdminConfig().CAData, 0o600))
	return c.runReplicaOf(t, liveConfig, []string{"system:kube-scheduler"}, append([]string{"--client-ca-file=" + authority}, args...)...)
}

// runReplicaOf starts one with a configuration, as a user with groups.
func (c *liveCluster) runReplicaOf(t *testing.T, text string, user []string, args ...string) *replica {
	t.Helper()
	kubeconfig, log := filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(t.TempDir(), "log")
	testkit.Must(t, c.WriteKubeconfig(kubeconfig, user[0], user[1:]...))
	const connection = "clientConnection: {"
	if !strings.Contains(text, connection) {
		text += "\n" + connection + "}\n"
	}
	config := testkit.TempFile(t, "scheduler.yaml", strings.Replace(text, connection, connection+"kubeconfig: "+kubeconfig+", ", 1))
	file, err := os.Create(log)
	testkit.Must(t, err)
	defer file.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	r := &replica{address: free.Addr().String()}
	testkit.Must(t, free.Close())
	_, port, _ := net.SplitHostPort(r.address)
	r.process = exec.Command(os.Args[0], append([]string{
		"--config=" + config, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + port, "-v=2",
	}, args...)...)
	r.process.Env = append(os.Environ(), asCommand+"=1")
	r.process.Stdout, r.process.Stderr = file, file
	testkit.Must(t, r.process.Start())
	r.end = sync.OnceFunc(func() { _, _ = r.process.Process.Kill(), r.process.Wait() })
	t.Cleanup(func() {
		r.end()
		text, err := os.ReadFile(log)
		if t.Failed() && err == nil {
			t.Logf("scheduler %s:\n%s", r.address, text[max(0, len(text)-4000):])
		}
	})
	testkit.EventuallyHas(t, "the scheduler serves", c.answers(t, r, "/healthz"), "status 200: ")
	return r
}

// get asks a replica with a user's certificate.
func (c *liveCluster) get(ctx context.Context, user *rest.Config, r *replica, path, accept string) (status int, text string, err error) {
	config := rest.CopyConfig(user)
	config.Insecure, config.CAData = true, nil
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.address+path, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, string(all), err
}

// answers gets a replica's answer to an administrator, after its status.
func (c *liveCluster) answers(t *testing.T, r *replica, path string) (text func() string) {
	return func() string {
		status, text, err := c.get(t.Context(), c.AdminConfig(), r, path, "text/plain")
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("status %d: %s", status, text)
	}
}

// wantAnswer fails a test unless a replica's answer to a user begins with a status and a text.
func (c *liveCluster) wantAnswer(t *testing.T, user *rest.Config, r *replica, path, begin string) (text string) {
	t.Helper()
	status, text, err := c.get(t.Context(), user, r, path, "text/plain")
	testkit.Must(t, err)
	if !strings.HasPrefix(fmt.Sprintf("%d %s", status, text), begin) {
		t.Errorf("%s: %d %s, want %s", path, status, text, begin)
	}
	return text
}

// kubeconfig returns a user's kubeconfig for an API server that forwards the ports of a pod to the address that reaches
// returns. The API server of controlplane has no kubelets.
func (c *liveCluster) kubeconfig(t *testing.T, user string, reaches func(pod string) string, groups ...string) string {
	t.Helper()
	config, err := c.ClientConfig(user, groups...)
	testkit.Must(t, err)
	transport, err := rest.TransportFor(config)
	testkit.Must(t, err)
	at, err := url.Parse(config.Host)
	testkit.Must(t, err)
	behind := httputil.NewSingleHostReverseProxy(at)
	behind.Transport = transport
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.Split(r.URL.Path, "/")
		switch {
		case path[len(path)-1] != "portforward":
			behind.ServeHTTP(w, r)
		case r.Header.Get("Upgrade") != "SPDY/3.1":
			http.Error(w, "this server does not know web sockets", http.StatusBadRequest)
		default:
			portForward(w, reaches(path[len(path)-2]))
		}
	}))
	t.Cleanup(front.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	testkit.Must(t, c.WriteKubeconfig(file, user, groups...))
	is, err := clientcmd.LoadFromFile(file)
	testkit.Must(t, err)
	for _, cluster := range is.Clusters {
		cluster.Server, cluster.CertificateAuthorityData, cluster.InsecureSkipTLSVerify = front.URL, nil, true
	}
	testkit.Must(t, clientcmd.WriteToFile(*is, file))
	return file
}

// portForward does what a kubelet does: each pair of streams is a connection.
func portForward(w http.ResponseWriter, to string) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	fmt.Fprint(buffered, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n")
	_ = buffered.Flush()
	streams, err := spdystream.NewConnection(readFirst{conn, buffered.Reader}, true)
	if err != nil {
		return
	}
	streams.Serve(func(stream *spdystream.Stream) {
		_ = stream.SendReply(http.Header{}, false)
		if stream.Headers().Get("streamType") != "data" {
			return
		}
		target, err := net.Dial("tcp", to)
		if err != nil {
			_ = stream.Reset()
			return
		}
		go func() {
			_, _ = io.Copy(target, stream)
			_ = target.Close()
		}()
		go func() {
			_, _ = io.Copy(stream, target)
			_ = stream.Close()
		}()
	})
}

// readFirst is a connection with bytes that were read ahead.
type readFirst struct {
	net.Conn
	from *bufio.Reader
}

func (r readFirst) Read(p []byte) (int, error) { return r.from.Read(p) }
