// Package page is the simulator's web page: the cluster at a glance, forms for
// its objects, the scheduler's configuration, and why a pod is where it is.
//
// Everything is rendered here, on the server; the browser gets HTML, one style
// sheet, htmx and a little script of our own, and nothing from anywhere else. The
// page decides nothing: it shows and drives a simulator. Who may ask for it, and what
// a browser may load with it, package api says.
package page

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"wasmkwokwizardry.io/regex-scheduling/simulator"
	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
)

type page struct {
	sim         *simulator.Simulator
	view        *watched
	jobs        *jobs.Jobs
	comparisons *comparisons
	dynamic     dynamic.Interface
	mapper      meta.RESTMapper
}

// New makes the handler of the page. Background work that people start in it
// ends with ctx.
func New(ctx context.Context, sim *simulator.Simulator) (http.Handler, error) {
	client, err := dynamic.NewForConfig(sim.AdminConfig())
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(sim.AdminConfig())
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	p := &page{
		sim:         sim,
		view:        watch(ctx, sim),
		jobs:        jobs.New(ctx),
		comparisons: newComparisons(),
		dynamic:     client,
		mapper:      restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco)),
	}
	return p.routes(), nil
}

func (p *page) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", immutable(http.FileServerFS(assets)))
	mux.HandleFunc("GET /{$}", p.overview)
	mux.HandleFunc("GET /pods", p.podList)
	mux.HandleFunc("GET /objects", p.objects)
	mux.HandleFunc("GET /summary", p.summary)
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("GET /pods/{namespace}/{name}", p.pod)
	mux.HandleFunc("GET /pods/{namespace}/{name}/attempts/{id}", p.attempt)
	mux.HandleFunc("GET /nodes/{name}", p.node)
	mux.HandleFunc("GET /new/{kind}", p.newObject)
	mux.HandleFunc("GET /edit/{kind}", p.editObject)
	mux.HandleFunc("POST /create", p.create)
	mux.HandleFunc("POST /update", p.update)
	mux.HandleFunc("POST /delete/{kind}", p.deleteObject)
	mux.HandleFunc("POST /scale/{kind}", p.scale)
	mux.HandleFunc("GET /scheduler", p.scheduler)
	mux.HandleFunc("POST /scheduler", p.applyScheduler)
	mux.HandleFunc("GET /scheduler/ready-made", p.readyMade)
	mux.HandleFunc("GET /compare", p.comparisonList)
	mux.HandleFunc("POST /compare", p.compare)
	mux.HandleFunc("GET /compare/{id}", p.ofComparison(p.compared))
	mux.HandleFunc("GET /compare/{id}/report", p.ofComparison(p.comparedReport))
	mux.HandleFunc("GET /compare/{id}/pods/{namespace}/{name}", p.ofComparison(p.comparedPod))
	mux.HandleFunc("GET /export", p.export)
	mux.HandleFunc("GET /import", p.importForm)
	mux.HandleFunc("POST /import", p.importFile)
	mux.HandleFunc("GET /reset", p.resetForm)
	mux.HandleFunc("POST /reset", p.reset)
	mux.HandleFunc("GET /jobs/{id}", p.job)
	mux.HandleFunc("POST /jobs/{id}/cancel", p.cancelJob)
	mux.HandleFunc("/", p.notFound)
	return mux
}
