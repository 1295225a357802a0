package extender_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestDefaultMeasureIsRightFromTheStart scores a node that began to count just
// now: 10 % of its two processors are in use.
func TestDefaultMeasureIsRightFromTheStart(t *testing.T) {
	began := time.Now()
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for cpu := range 2 {
			for mode, share := range map[string]float64{"idle": 0.9, "user": 0.07, "system": 0.03} {
				fmt.Fprintf(w, "node_cpu_seconds_total{node=\"idle\",cpu=\"%d\",mode=%q} %v\n", cpu, mode, share*time.Since(began).Seconds())
			}
		}
	}))
	defer exporter.Close()
	address := startPrometheus(t, exporter)
	handler := newExtender(t, configure(t, fmt.Sprintf(`
algorithm: load
algorithms: {load: {config: {url: "http://%s", nodeLabel: node, threshold: 0.9, interval: 50ms}}}
`, address))).Handler()
	page := ""
	testkit.EventuallyHolds(t, "a value for the node", func() bool {
		page = get(handler, "/readyz").Body.String()
		return strings.Contains(page, "load: 1 nodes")
	})
	request := []byte(`{"Pod":{"metadata":{"name":"web"}},"NodeNames":["idle","unknown"]}`)
	got := post(handler, "/prioritize", request).Body.String()
	testkit.Equal(t, strings.TrimSpace(got), `[{"Host":"idle","Score":9},{"Host":"unknown","Score":5}]`, "scores of a node in use by 10 %%: %s", page)
	got = post(handler, "/filter", request).Body.String()
	testkit.Has(t, got, `"FailedNodes":{}`)
}

// startPrometheus starts a Prometheus that scrapes an exporter, and returns its address.
func startPrometheus(t *testing.T, exporter *httptest.Server) (address string) {
	t.Helper()
	binary := testkit.Needs(t, "prometheus", "make prometheus downloads it (Debian)")
	dir := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(fmt.Sprintf(`
scrape_configs:
- job_name: exporter
  scrape_interval: 100ms
  scrape_timeout: 100ms
  static_configs:
  - targets: [%q]
`, exporter.Listener.Addr())), 0o600))
	command := exec.Command(binary, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	var log testkit.Log
	command.Stderr = &log
	testkit.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	listening := regexp.MustCompile(`msg="Listening on" .*address=(\S+)`)
	testkit.EventuallyHolds(t, "Prometheus to listen", func() bool {
		found := listening.FindStringSubmatch(log.String())
		if found != nil {
			address = found[1]
		}
		return found != nil
	})
	return address
}
