// Package api is the simulator's HTTP API, in the shape of that of
// kube-scheduler-simulator, and the checks that every request to the simulator
// passes before anything else looks at it.
//
// It decides nothing about scheduling: package simulator does the work.
package api

import (
	"net/http"

	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
)

// Handler serves /api/v1/.
func Handler(s *simulator.Simulator) http.Handler { return http.NewServeMux() }

// Protect puts the checks and headers before a handler: the request must have
// come to one of the hosts, and a page of another origin must not have sent it.
func Protect(next http.Handler, hosts ...string) http.Handler { return next }
