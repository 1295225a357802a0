// Package api is the simulator's HTTP API, in the shape of that of
// kube-scheduler-simulator, and the checks that every request to the simulator
// passes before anything else looks at it. openapi.yaml describes it.
//
// It decides nothing about scheduling: package simulator does the work. It is not for
// other Go programs.
package api

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// maxConfig is what a configuration may measure, in bytes.
const maxConfig = 1 << 20

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
	config, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxConfig))
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
	objects, notices, err := snapshot.ReadSent(http.MaxBytesReader(w, r.Body, snapshot.MaxSent))
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

func (h handler) description(w http.ResponseWriter, _ *http.Request) error {
	return write(w, "application/yaml", description)
}
