package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/component-base/metrics/legacyregistry"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// promtool runs Prometheus' own program in a folder that has the alerts as rules.yaml.
func promtool(t *testing.T, rules any, args ...string) {
	t.Helper()
	program := testkit.Needs(t, "promtool", "make prometheus downloads it (Debian)")
	text, err := yaml.Marshal(rules)
	testkit.Must(t, err)
	test := testkit.ReadFile(t, "testdata/alerts_test.yaml")
	folder := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "rules.yaml"), text, 0o600))
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "alerts_test.yaml"), test, 0o600))
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %q: %v\n%s\n%s", args, err, out, text)
	}
}

func TestAlertsFire(t *testing.T) {
	testkit.OnOneMinor(t)
	promtool(t, map[string]any{"groups": groupsOfAlerts(t)}, "test", "rules", "alerts_test.yaml")
}

// groupsOfAlerts are the alerts of all components, each of which has those of what its ServiceMonitor scrapes.
func groupsOfAlerts(t *testing.T) (groups []any) {
	t.Helper()
	for _, object := range mustRenderBeside(t, "resources: [../deploy/scheduler/native, ../deploy/extender/base, ../deploy/static-webserver]\n"+
		"components: [../deploy/scheduler/components/servicemonitor, ../deploy/extender/components/servicemonitor, ../deploy/static-webserver/components/servicemonitor]") {
		if object.GetKind() == "PrometheusRule" {
			groups = append(groups, object.Object["spec"].(map[string]any)["groups"].([]any)...)
		}
	}
	if len(groups) != 3 {
		t.Fatalf("%d components have alerts, want 3", len(groups))
	}
	return groups
}

func TestDashboardsQueriesAreValid(t *testing.T) {
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for i, query := range queriesOfDashboard(t) {
		rules = append(rules, rule{fmt.Sprintf("query_%d", i), query})
	}
	promtool(t, map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}, "check", "rules", "rules.yaml")
}

func queriesOfDashboard(t *testing.T) (queries []string) {
	t.Helper()
	var dashboard struct {
		Inputs   []any                 `json:"__inputs"` // which Grafana's catalogue wants, if empty
		Requires []struct{ ID string } `json:"__requires"`
		Panels   []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
	}
	text := testkit.ReadFile(t, "scheduler/dashboard/dashboard.json")
	testkit.Must(t, json.Unmarshal(text, &dashboard))
	if dashboard.Inputs == nil {
		t.Error("the dashboard has no __inputs, so Grafana's catalogue does not take it")
	}
	for _, panel := range dashboard.Panels {
		if !slices.ContainsFunc(dashboard.Requires, func(r struct{ ID string }) bool { return r.ID == panel.Type }) {
			t.Errorf("__requires has no %s", panel.Type)
		}
		if len(panel.Targets) == 0 {
			t.Errorf("%s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

func TestEachAlertIsInTheDocument(t *testing.T) {
	page, err := os.ReadFile("../docs/production.md")
	testkit.Must(t, err)
	for _, group := range groupsOfAlerts(t) {
		for _, rule := range group.(map[string]any)["rules"].([]any) {
			testkit.Has(t, string(page), "`"+strings.TrimPrefix(rule.(map[string]any)["alert"].(string), "RegexScheduling")+"`")
		}
	}
}

func queriesOfAlerts(t *testing.T) (queries []string) {
	t.Helper()
	for _, group := range groupsOfAlerts(t) {
		for _, rule := range group.(map[string]any)["rules"].([]any) {
			queries = append(queries, rule.(map[string]any)["expr"].(string))
		}
	}
	return queries
}

// A metric is what begins with a component's name, or Prometheus' own; its labels are in braces.
var (
	metric = regexp.MustCompile(`\b(up|(?:scheduler|extender|leader_election|kubelet)_[a-z_]+)\b(?:\{([^}]*)\})?`)
	label  = regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)"`)
	by     = regexp.MustCompile(`(?:by|on) \(([^)]*)\)`)
)

// TestAlertsAndDashboardUseSeriesThatExist looks for each metric, and each label of it, in what
// schedulers have exposed that ran with guest and extender, in what an extender exposes, and in the
// kubelet's source.
func TestAlertsAndDashboardUseSeriesThatExist(t *testing.T) {
	exposed := exposedSeries(t)
	ofPrometheus := map[string]string{"job": "", "instance": "", "namespace": "", "le": ""}
	exposed["up"] = ofPrometheus
	for _, query := range append(queriesOfAlerts(t), queriesOfDashboard(t)...) {
		used := metric.FindAllStringSubmatch(query, -1)
		if len(used) == 0 {
			t.Errorf("%s has no metric", query)
		}
		all := maps.Clone(ofPrometheus) // labels of the query's metrics
		for _, m := range used {
			labels, ok := exposed[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m[1], "")]
			if !ok {
				t.Errorf("nothing exposes %s of %s", m[1], query)
			}
			labels = maps.Clone(labels)
			maps.Copy(labels, ofPrometheus)
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if _, ok := labels[l[1]]; !ok {
					t.Errorf("%s has no label %s, but %v: %s", m[1], l[1], labels, query)
				}
			}
			maps.Copy(all, labels)
		}
		for _, list := range by.FindAllStringSubmatch(query, -1) {
			for _, l := range strings.Split(list[1], ", ") {
				if _, ok := all[l]; !ok {
					t.Errorf("no metric has the label %s, but %v: %s", l, all, query)
				}
			}
		}
	}
	testkit.Has(t, exposed["scheduler_unschedulable_pods"]["plugin"], " Extender ", " WasmRegexScheduling ")
	testkit.Has(t, exposed["kubelet_admission_rejections_total"]["reason"], " OutOfcpu ")
}

// exposedSeries are the values of each label of each metric, between spaces.
func exposedSeries(t *testing.T) map[string]map[string]string {
	t.Helper()
	addNode(t, "other", 10)
	server := serveExtender(t, extenderConfig(t, configOf(t, mustRender(t, "extender/base"))))
	runScheduler(t, "extender", nil, "http://extender:8000/", "http://"+server.Address+"/")
	addPod(t, podFor("rejected", "^absent$"))
	waitForCondition(t, "rejected")
	t.Run("with a guest", func(t *testing.T) {
		runScheduler(t, "wasm", map[string]string{"static-webserver": serve(t, guestserver.Handler())}, "schedulerName: custom-scheduler", "schedulerName: with-guest")
		pods := 0
		testkit.Eventually(t, "calls are measured, which is so in some cycles", func(context.Context) error {
			pods++
			pod := podFor(fmt.Sprintf("rejected-by-guest-%d", pods), fmt.Sprintf("^absent-%d$", pods)) // else the answer is remembered
			pod.Spec.SchedulerName = "with-guest"
			addPod(t, pod)
			waitForCondition(t, pod.Name)
			if gathered()["scheduler_wasm_call_duration_seconds"] == nil {
				return fmt.Errorf("not after %d pods", pods)
			}
			return nil
		})
	})
	_, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{ // as app.Setup does, of which tests have none
		Lock: lockOf(client, namespace, "custom-scheduler", "test"), Name: "kube-scheduler",
		LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: time.Second,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	})
	testkit.Must(t, err)

	exposed := gathered()
	exposed["kubelet_admission_rejections_total"] = rejectionsOfKubelet(t)
	page := httptest.NewRecorder()
	server.Handler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	maps.Copy(exposed, seriesOf(page.Body.String()))
	return exposed
}

// gathered are the metrics of this process, as the scheduler would expose them.
func gathered() map[string]map[string]string {
	w := httptest.NewRecorder()
	legacyregistry.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return seriesOf(w.Body.String())
}

// seriesOf reads what stands on /metrics.
func seriesOf(page string) map[string]map[string]string {
	exposed := map[string]map[string]string{}
	for _, series := range regexp.MustCompile(`(?m)^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? `).FindAllStringSubmatch(page, -1) {
		labels := exposed[series[1]]
		if labels == nil {
			labels = map[string]string{}
			exposed[series[1]] = labels
		}
		for _, label := range regexp.MustCompile(`(\w+)="([^"]*)"`).FindAllStringSubmatch(series[2], -1) {
			labels[label[1]] += " " + label[2] + " "
		}
	}
	return exposed
}

// rejectionsOfKubelet are the labels of kubelet_admission_rejections_total, by the kubelet's source: what registers it needs
// modules that ours does not.
func rejectionsOfKubelet(t *testing.T) map[string]string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}/pkg/kubelet/", "k8s.io/kubernetes").Output()
	testkit.Must(t, err)
	text := ""
	for _, file := range []string{"metrics/metrics.go", "lifecycle/predicate.go"} {
		source := testkit.ReadFile(t, strings.TrimSpace(string(folder))+file)
		text += string(source)
	}
	label := regexp.MustCompile(`(?s)AdmissionRejectionsTotalKey += "admission_rejections_total".*AdmissionRejectionsTotal = .*?\[\]string\{"(\w+)"\}`).FindStringSubmatch(text)
	if label == nil {
		t.Fatal("the kubelet has no admission_rejections_total")
	}
	reasons := strings.Join(regexp.MustCompile(`OutOf\w+`).FindAllString(text, -1), "  ")
	return map[string]string{label[1]: " " + reasons + " "}
}
