package load

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"strconv"
)

// answer is Prometheus' answer to an instant query.
type answer struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// sample is one sample of an instant vector.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // the time as a number, the value as a string
}

// decode returns a value for each node, at least one, of an answer to an instant query.
// If a node has several series, the worst value counts; NaN is no value.
func (c *Config) decode(body []byte) (map[string]float64, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	}
	if a.Status != "success" {
		return nil, fmt.Errorf("query rejected: %s: %s", a.ErrorType, a.Error)
	}
	if a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", a.Data.ResultType)
	}
	var samples []sample
	if err := json.Unmarshal(a.Data.Result, &samples); err != nil {
		return nil, fmt.Errorf("not a vector of Prometheus: %w", err)
	}
	values := make(map[string]float64)
	for _, one := range samples {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		name := one.Metric[c.NodeLabel]
		host, _, noPort := net.SplitHostPort(name)
		if noPort == nil { // as in instance; node names have no colon
			name = host
		}
		if err != nil || name == "" || math.IsNaN(value) {
			continue
		}
		old, ok := values[name]
		if !ok || c.worse(value, old) {
			values[name] = value
		}
	}
	switch {
	case len(samples) == 0:
		return nil, fmt.Errorf("query %s: no series in the answer: check that Prometheus scrapes the metric in the query, and wait if Prometheus has just started", c.promQL())
	case len(values) == 0:
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", len(samples), c.NodeLabel)
	}
	return values, nil
}
