// Package api is the simulator's HTTP API, in the shape of that of
// kube-scheduler-simulator, and the checks that every request to the simulator
// passes before anything else looks at it. openapi.yaml describes it.
//
// It decides nothing about scheduling: package simulator does the work. It is not for
// other Go programs.
package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// What a request's body may measure, in bytes.
const (
	maxConfig  = 1 << 20
	maxPreview = 64 << 10
)

//go:embed openapi.yaml
var description []byte

// Handler serves /api/v1/. stop is called when someone asks for the end of the
// process.
func Handler(s *simulator.Simulator, stop func()) http.Handler {
	h := handler{s}
	mux := http.NewServeMux()
	for route, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /api/v1/schedulerconfiguration":           h.config,
		"POST /api/v1/schedulerconfiguration":          h.applyConfig,
		"PUT /api/v1/reset":                            accepted(func(r *http.Request) error { return s.Reset(r.Context()) }),
		"GET /api/v1/export":                           h.export,
		"POST /api/v1/import":                          h.load,
		"GET /api/v1/status":                           h.status,
		"GET /api/v1/pods/{namespace}/{name}/attempts": h.attempts,
		"POST /api/v1/regex/preview":                   h.preview,
		"POST /api/v1/stop":                            accepted(func(*http.Request) error { stop(); return nil }),
		"GET /api/v1/openapi.yaml":                     h.description,
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			if err := serve(w, r); err != nil {
				fail(w, err)
			}
		})
	}
	return mux
}

type handler struct{ sim *simulator.Simulator }

// accepted answers that something is done, with 202 as kube-scheduler-simulator.
func accepted(do func(*http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := do(r)
		if err == nil {
			w.WriteHeader(http.StatusAccepted)
		}
		return err
	}
}

func (h handler) config(w http.ResponseWriter, r *http.Request) error {
	config := h.sim.SchedulerConfig()
	if r.Header.Get("Accept") == "application/yaml" {
		return write(w, "application/yaml", config)
	}
	config, err := yaml.YAMLToJSON(config)
	if err != nil {
		return err
	}
	return write(w, "application/json", config)
}

func (h handler) applyConfig(w http.ResponseWriter, r *http.Request) error {
	config, err := read(w, r, maxConfig)
	if err != nil {
		return err
	}
	return accepted(func(r *http.Request) error { return h.sim.ApplySchedulerConfig(r.Context(), config) })(w, r)
}

func (h handler) export(w http.ResponseWriter, r *http.Request) error {
	objects, err := h.sim.Export(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, objects)
}

func (h handler) load(w http.ResponseWriter, r *http.Request) error {
	body, err := bounded(w, r, snapshot.MaxSent)
	if err != nil {
		return err
	}
	objects, notices, err := snapshot.ReadSent(body)
	if large := (snapshot.TooLarge{}); errors.As(err, &large) {
		return status{http.StatusRequestEntityTooLarge, fmt.Errorf("import: %w", err)}
	}
	if err != nil {
		return status{http.StatusBadRequest, fmt.Errorf("import: %w", err)}
	}
	if r.URL.Query().Has("objectsOnly") {
		objects.SchedulerConfig = nil
	}
	if err := h.sim.Import(r.Context(), objects, nil); err != nil {
		return err
	}
	if notices == nil {
		notices = []snapshot.Notice{}
	}
	return writeJSON(w, map[string]any{"notices": notices})
}

// status says which cluster this one began as a copy of, if of any.
func (h handler) status(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, map[string]any{"source": h.sim.Source()})
}

func (h handler) attempts(w http.ResponseWriter, r *http.Request) error {
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	attempts := h.sim.Recorder().Attempts(namespace, name)
	if len(attempts) == 0 {
		if _, err := h.sim.Informers().Core().V1().Pods().Lister().Pods(namespace).Get(name); err != nil {
			return status{http.StatusNotFound, err}
		}
	}
	return writeJSON(w, attempts)
}

// Preview is the answer to POST regex/preview.
type Preview struct {
	// Valid says whether the pattern can be used; Error says why not.
	Valid bool   `json:"valid"`
	Error string `json:"error,omitempty"`
	// Matches are the names of the nodes that match, out of Total.
	Matches []string `json:"matches"`
	Total   int      `json:"total"`
	// Annotations are the keys under which the scheduler that runs reads a
	// pattern, ExcludeAnnotations those of what to exclude. Without one no pattern
	// has a meaning.
	Annotations        []string `json:"annotations"`
	ExcludeAnnotations []string `json:"excludeAnnotations"`
	// Notes are what the pattern would mean as a glob or a hostlist, a sentence each.
	Notes []string `json:"notes,omitempty"`
}

func (h handler) preview(w http.ResponseWriter, r *http.Request) error {
	body, err := read(w, r, maxPreview)
	if err != nil {
		return err
	}
	in := struct {
		Pattern, Exclude *string
		Scheduler        string
	}{Scheduler: v1.DefaultSchedulerName}
	err = json.Unmarshal(body, &in)
	if err != nil || in.Pattern == nil && in.Exclude == nil {
		return status{http.StatusBadRequest, errors.New(`preview: the body must be JSON such as {"pattern": "kubecon-.*"}`)}
	}
	out := Preview{Matches: []string{}}
	out.Annotations, out.ExcludeAnnotations = h.sim.Annotations(in.Scheduler)
	matches, total, notes, err := h.sim.Preview(in.Pattern, in.Exclude)
	var wrong *regex.PatternError
	switch {
	case errors.As(err, &wrong):
		out.Error = wrong.Error()
	case err != nil:
		return err
	default:
		out.Valid, out.Notes = true, notes
		out.Matches, out.Total = matches, total
	}
	return writeJSON(w, out)
}

func (h handler) description(w http.ResponseWriter, _ *http.Request) error {
	return write(w, "application/yaml", description)
}

func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := bounded(w, r, limit)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(body)
}

func bounded(w http.ResponseWriter, r *http.Request, limit int64) (io.Reader, error) {
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	return http.MaxBytesReader(w, r.Body, limit), nil
}
