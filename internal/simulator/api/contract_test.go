package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"wasmkwokwizardry.io/regex-scheduling/internal/decisions"
	"wasmkwokwizardry.io/regex-scheduling/internal/recorder"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// contract compares a handler with openapi.yaml.
type contract struct {
	routes routers.Router
	open   map[string]bool // "GET /path 200": described, not yet seen
}

func newContract(t *testing.T) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(description)
	testkit.Must(t, err)
	testkit.Must(t, doc.Validate(t.Context()))
	c := &contract{open: map[string]bool{}}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				c.open[method+" "+path+" "+status] = true
			}
		}
	}
	doc.Servers = nil // any host
	c.routes, err = gorillamux.NewRouter(doc)
	testkit.Must(t, err)
	return c
}

// call is a request, and the status that it should earn.
type call struct {
	name   string
	method string
	path   string
	body   string
	status int
	change func(*http.Request)
}

func (c call) request(ctx context.Context) *http.Request {
	r := httptest.NewRequestWithContext(ctx, c.method, "http://localhost:3000"+c.path, strings.NewReader(c.body))
	r.Header.Set("Content-Type", "application/json")
	if c.change != nil {
		c.change(r)
	}
	return r
}

// do makes a call and checks that the answer is as described.
func (c *contract) do(t *testing.T, handler http.Handler, call call) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, call.request(t.Context()))
	if w.Code != call.status {
		t.Fatalf("got %d %s, want %d", w.Code, w.Body, call.status)
	}
	body := w.Body.Bytes()
	c.check(t, call, w, body)
	return body
}

func (c *contract) check(t *testing.T, call call, w *httptest.ResponseRecorder, body []byte) {
	t.Helper()
	r := call.request(t.Context())
	r.Host = "localhost:3000" // the description knows no other
	route, params, err := c.routes.FindRoute(r)
	if err != nil {
		t.Fatalf("%s %s is not described: %v", call.method, call.path, err)
	}
	delete(c.open, fmt.Sprintf("%s %s %d", call.method, route.Path, call.status))
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: w.Code, Header: w.Header(), Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: %v", call.method, call.path, err)
	}
}

// The calls below meet no snapshot that has all of its fields.
func TestDescriptionHasTheFieldsOfASnapshot(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	testkit.Must(t, err)
	for name, of := range map[string]reflect.Type{
		"Snapshot": reflect.TypeFor[snapshot.Snapshot](), "Source": reflect.TypeFor[snapshot.Source](),
		"Digests": reflect.TypeFor[snapshot.Digests](), "Notice": reflect.TypeFor[snapshot.Notice](),
	} {
		var fields []string
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "-" {
				fields = append(fields, name)
			}
		}
		slices.Sort(fields)
		schema := doc.Components.Schemas[name]
		if schema == nil {
			t.Fatalf("%s is not described", name)
		}
		described := slices.Sorted(maps.Keys(schema.Value.Properties))
		if !slices.Equal(fields, described) {
			t.Errorf("%s has the fields %v, and is described with %v", name, fields, described)
		}
	}
	whole := snapshot.Source{Digests: &snapshot.Digests{Key: []byte("key"), Annotations: []string{"example.com/tier"}}, Notes: []snapshot.Notice{{About: "a", Reason: "b"}}}
	text, err := json.Marshal(whole)
	testkit.Must(t, err)
	var source any
	testkit.Must(t, json.Unmarshal(text, &source))
	testkit.Must(t, doc.Components.Schemas["Source"].Value.VisitJSON(source))
}

// The calls below meet no preempted pod, and few verdicts.
func TestDescriptionHasAllOfAnAttempt(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(description)
	testkit.Must(t, err)
	none := []recorder.PluginVerdict{}
	for _, v := range []recorder.Verdict{recorder.Passed, recorder.Rejected, recorder.Errored, recorder.Skipped, recorder.Waits, recorder.NotRun, recorder.Excluded} {
		text, err := json.Marshal(recorder.Attempt{
			ID: 1, Number: 1, Result: recorder.Unschedulable, Bind: []recorder.PluginVerdict{{Plugin: "p", Verdict: v}},
			PreFilter: none, PreScore: none, Reserve: none, Permit: none, PreBind: none,
			Columns: []recorder.Column{}, ScoreColumns: []recorder.ScoreColumn{},
			Preempted: &recorder.Preempted{By: "default/high", Node: "kubecon-1", Time: time.Now()},
			Shortages: []decisions.Shortage{{Resource: "cpu", Nodes: 1, Asked: "2", MostFree: "1"}},
		})
		testkit.Must(t, err)
		var attempt any
		testkit.Must(t, json.Unmarshal(text, &attempt))
		if err := doc.Components.Schemas["Attempt"].Value.VisitJSON(attempt); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// canceled is a request that has ended.
func canceled(r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	*r = *r.WithContext(ctx)
}

func foreignHost(r *http.Request) { r.Host = "other.example" }

const base = "/api/v1/"

// compressed is a text as gzip makes it.
func compressed(text string) string {
	var file bytes.Buffer
	to := gzip.NewWriter(&file)
	_, _ = io.WriteString(to, text) // into memory
	_ = to.Close()
	return file.String()
}

// nodeAndPod is an import.
const nodeAndPod = `{"nodes":[{"metadata":{"name":"kubecon-1"}}],"pods":[{"metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"c"}]}}]}`

var calls = []call{
	{"the current configuration", "GET", base + "schedulerconfiguration", "", 200, nil},
	{"the same in YAML", "GET", base + "schedulerconfiguration", "", 200, func(r *http.Request) { r.Header.Set("Accept", "application/yaml") }},
	{"another configuration, in YAML", "POST", base + "schedulerconfiguration", "profiles:\n- schedulerName: default-scheduler\n", 202, nil},
	{"a configuration with an unknown plugin", "POST", base + "schedulerconfiguration", `{"profiles":[{"plugins":{"multiPoint":{"enabled":[{"name":"Nope"}]}}}]}`, 500, nil},
	{"a configuration that is empty", "POST", base + "schedulerconfiguration", "", 500, nil},
	{"a huge configuration", "POST", base + "schedulerconfiguration", strings.Repeat(" ", maxConfig+1), 413, nil},
	{"an import", "POST", base + "import", nodeAndPod, 200, nil},
	{"what this is a copy of", "GET", base + "status", "", 200, nil},
	{"an import that is no JSON", "POST", base + "import", `{`, 400, nil},
	{"an import that the API server refuses", "POST", base + "import", `{"nodes":[{"metadata":{"name":"Not A Name"}}]}`, 500, nil},
	{"a huge import", "POST", base + "import", strings.Repeat(" ", snapshot.MaxSent+1), 413, nil},
	{"a compressed import", "POST", base + "import", compressed(nodeAndPod), 200, nil},
	{"an import that is huge inside", "POST", base + "import", compressed(strings.Repeat(" ", snapshot.MaxSent+1)), 413, nil},
	{"an import that was cut", "POST", base + "import", compressed(nodeAndPod)[:40], 400, nil},
	{"an import that would be huge", "POST", base + "import", `{"pods":[` + strings.Repeat("{},", 1<<20) + `{}]}`, 413, nil},
	{"an export", "GET", base + "export", "", 200, nil},
	{"an export that fails", "GET", base + "export", "", 500, canceled},
	{"a reset that fails", "PUT", base + "reset", "", 500, canceled},
	{"no such pod", "GET", base + "pods/default/absent/attempts", "", 404, nil},
	{"the description", "GET", base + "openapi.yaml", "", 200, nil},
	{"the end", "POST", base + "stop", "", 202, nil},
	{"a reset", "PUT", base + "reset", "", 202, nil},
}

// TestServerIsAsDescribed sees every path, method and status of openapi.yaml,
// and none that is not in it.
func TestServerIsAsDescribed(t *testing.T) {
	c := newContract(t)
	stopped := false
	handler := protect(Handler(sim, func() { stopped = true }), "localhost")
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) { c.do(t, handler, call) })
	}
	if !stopped {
		t.Error("POST stop did not stop")
	}
	t.Run("attempts", func(t *testing.T) { testAttempts(t, c, handler) })
	for route := range c.open {
		method, rest, _ := strings.Cut(route, " ")
		path, status, _ := strings.Cut(rest, " ")
		if status == "403" {
			path = strings.NewReplacer("{namespace}", "default", "{name}", "p").Replace(path)
			c.do(t, handler, call{"", method, path, "", 403, foreignHost})
		}
	}
	for route := range c.open {
		t.Errorf("openapi.yaml has %s, which no test has seen", route)
	}
}

func testAttempts(t *testing.T, c *contract, handler http.Handler) {
	c.do(t, handler, call{"", "POST", base + "import", nodeAndPod, 200, nil})
	testkit.Eventually(t, "pod p is scheduled", func(context.Context) error {
		attempts := sim.Recorder().Attempts("default", "p")
		if len(attempts) > 0 && attempts[0].Result == "Scheduled" {
			return nil
		}
		return fmt.Errorf("attempts %+v", attempts)
	})
	body := c.do(t, handler, call{"", "GET", base + "pods/default/p/attempts", "", 200, nil})
	testkit.Has(t, string(body), `"result":"Scheduled"`, `"node":"kubecon-1"`, `"verdict":"Passed"`, `"name":"RegexScheduling"`)
}
