package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator/compare"
)

// compare schedules the pods that are there under the configuration in use and
// under another. It ends when whoever asked is gone.
func (h handler) compare(w http.ResponseWriter, r *http.Request) error {
	config, err := read(w, r, maxConfig)
	if err != nil {
		return err
	}
	pods := cmp.Or(r.URL.Query().Get("pods"), compare.All)
	if !slices.Contains(compare.Modes, pods) {
		return status{http.StatusBadRequest, fmt.Errorf("compare: pods is none of %s", strings.Join(compare.Modes, ", "))}
	}
	snapshot, err := h.sim.Export(r.Context())
	if err != nil {
		return err
	}
	result, err := compare.Run(r.Context(), compare.Options{
		A:       compare.Side{Name: "the configuration in use", Config: h.sim.SchedulerConfig()},
		B:       compare.Side{Name: "the configuration in the request", Config: config},
		Cluster: snapshot, Pods: pods, Seed: 1,
	})
	if errors.Is(err, compare.ErrNothing) {
		return status{http.StatusBadRequest, err}
	}
	if err != nil {
		return err
	}
	return writeJSON(w, result)
}
