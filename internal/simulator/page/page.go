// Package page is the simulator's web page: the cluster at a glance, forms for its
// objects, the scheduler's configuration, and why a pod is on its node or pending.
//
// The server renders everything; the browser gets HTML, stylesheets, htmx and a little script
// of our own, and nothing from anywhere else. The page decides nothing: it shows and drives
// a simulator. Package api says who may ask for it, and what a browser may load with it.
package page

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

type page struct {
	sim     *simulator.Simulator
	cluster *cluster
	jobs    *jobs
	turn    chan struct{} // holds a value while a job runs copies of the cluster
	client  *objectClient
}

// New makes the handler of the page. Jobs that people start in it end with ctx.
func New(ctx context.Context, sim *simulator.Simulator) (http.Handler, error) {
	client, err := dynamic.NewForConfig(sim.AdminConfig())
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	p := &page{
		sim:     sim,
		cluster: newCluster(sim, sim.Changes(ctx)),
		jobs:    &jobs{ctx: ctx},
		turn:    make(chan struct{}, 1),
		client:  &objectClient{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(sim.Client().Discovery()))},
	}
	return p.routes(), nil
}

type handler = func(http.ResponseWriter, *http.Request) error

// maxText bounds what a form may send: a file of 5,000 pods is some 20 MB.
const maxText = 64 << 20

func (p *page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	for pattern, serve := range map[string]handler{
		"GET /{$}":                     p.overview,
		"GET /pods":                    p.podList,
		"GET /objects":                 p.objects,
		"GET /summary":                 p.summary,
		"GET /events":                  p.events,
		"GET /pods/{namespace}/{name}": p.pod,
		"GET /pods/{namespace}/{name}/attempts/{id}": p.attempt,
		"GET /pods/{namespace}/{name}/why":           p.whyForm,
		"POST /pods/{namespace}/{name}/why":          p.why,
		"GET /nodes/{name}":                          p.node,
		"POST /nodes/{name}/cordon":                  p.cordon,
		"POST /nodes/{name}/drain":                   p.drain,
		"GET /nodes/{name}/taint":                    p.taintForm,
		"POST /nodes/{name}/taint":                   p.taint,
		"GET /new/{kind}":                            ofKind(p.newObject),
		"GET /edit/{kind}":                           ofKind(p.editObject),
		"POST /create":                               p.create,
		"POST /preview":                              p.preview,
		"POST /update":                               p.update,
		"POST /delete/{kind}":                        ofKind(p.deleteObject),
		"POST /scale/{kind}":                         ofKind(p.scale),
		"GET /scheduler":                             p.schedulerForm("Scheduler configuration", false),
		"POST /scheduler":                            p.applyScheduler,
		"GET /results":                               p.resultList,
		"GET /results/{id}":                          p.result,
		"POST /compare":                              p.compare,
		"GET /compare/new":                           p.schedulerForm("Compare configurations", true),
		"GET /fit":                                   p.fitForm,
		"POST /fit":                                  p.fit,
		"POST /rollout":                              p.rollout,
		"GET /removal":                               p.removalForm,
		"POST /removal":                              p.remove,
		"GET /export":                                p.export,
		"GET /import":                                p.form("import", "Import"),
		"POST /import":                               p.importFile,
		"GET /about":                                 p.about,
		"POST /example":                              p.loadExample,
		"GET /reset":                                 p.form("reset", "Reset"),
		"POST /reset":                                p.reset,
		"GET /jobs/{id}":                             p.job,
		"POST /jobs/{id}/cancel":                     p.cancelJob,
		"/":                                          func(http.ResponseWriter, *http.Request) error { return notFound("There is no such page.") },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxText)
			if err := serve(w, r); err != nil {
				p.fail(w, r, err)
			}
		})
	}
	return mux
}

// notFound is an error that says what does not exist.
type notFound string

func (n notFound) Error() string { return string(n) }

// fail sends an error: beside the form that it is about, or as a page.
func (p *page) fail(w http.ResponseWriter, r *http.Request, err error) {
	var missing notFound
	var wrong problems
	switch {
	case r.Context().Err() != nil:
		return // the client has gone
	case errors.As(err, &wrong):
		err = fragment(w, r, "problems", wrong)
	case errors.As(err, &missing) && isFragment(r):
		err = fragment(w, r, "not-found", missing)
	case errors.As(err, &missing):
		err = p.whole(w, http.StatusNotFound, "Not found", "", "not-found", missing)
	}
	if err != nil {
		slog.Error("page", "path", r.URL.Path, "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// show renders a view: by itself for htmx, and as a page of its own for a person's browser.
func (p *page) show(w http.ResponseWriter, r *http.Request, view, title, tab string, data any) error {
	w.Header().Set("Vary", "HX-Request")
	if !isFragment(r) {
		return p.whole(w, http.StatusOK, title, tab, view, data)
	}
	if templates.Lookup(view+"-live") != nil {
		view += "-live" // the part that changes
	}
	return fragment(w, r, view, data)
}

// form shows a view that needs no data.
func (p *page) form(view, title string) handler {
	return func(w http.ResponseWriter, r *http.Request) error { return p.show(w, r, view, title, "", nil) }
}

// whole sends a view in the layout.
func (p *page) whole(w http.ResponseWriter, status int, title, tab, view string, data any) error {
	body, err := execute(view, data)
	if err != nil {
		return err
	}
	layout, err := execute("layout", map[string]any{
		"Title": title, "Tab": tab, "Body": template.HTML(body), "Summary": p.summaryData(),
		"Jobs": p.running(tab), "Results": len(p.jobs.whatIfs()),
	})
	if err != nil {
		return err
	}
	send(w, status, layout)
	return nil
}

// Starting is a page with the steps of the simulator's start. It reloads itself, and so turns
// into the page once that is served.
type Starting struct {
	began time.Time

	mu       sync.Mutex
	steps    []string
	done, of int       // of the last step, as far as is known
	since    time.Time // when the last step began
}

// NewStarting starts the clock of the page.
func NewStarting() *Starting { return &Starting{began: time.Now()} }

// Say begins a step.
func (s *Starting) Say(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
	s.done, s.of = 0, 0
	s.since = time.Now()
}

// Progress says how far the last step is.
func (s *Starting) Progress(done, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.of = done, of
}

// left estimates how long the last step goes on. It is 0 until a tenth of it is done.
func (s *Starting) left() time.Duration {
	if s.done == 0 || s.done < s.of/10 {
		return 0
	}
	return (time.Since(s.since) * time.Duration(s.of-s.done) / time.Duration(s.done)).Round(5 * time.Second)
}

// ServeHTTP sends the steps for every address but that of an asset; the API gets an error.
func (s *Starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/assets/") {
		http.FileServerFS(assets).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Retry-After", "1")
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		of := ""
		if s.of > 0 {
			of = fmt.Sprintf(": imported %d of %d objects", s.done, s.of)
		}
		_, _ = fmt.Fprintf(w, `{"message":"the simulator is starting%s"}`+"\n", of)
		return
	}
	body, err := execute("starting", map[string]any{
		"Elapsed": time.Since(s.began), "Steps": s.steps, "Last": len(s.steps) - 1, "Done": s.done, "Of": s.of, "Left": s.left(),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, http.StatusServiceUnavailable, body)
}
