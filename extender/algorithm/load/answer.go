package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
)

// answer is Prometheus's to an instant query.
type answer struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string `json:"resultType"`
		Result     json.RawMessage
	} `json:"data"`
}

// sample is an element of a vector; its value is [time, "number"].
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// errEmpty is an answer without a series. It is more often the mark of a mistake,
// or of a Prometheus that has just started, than the truth about a cluster.
var errEmpty = errors.New("no series in the answer: see that the metric is spelled and scraped as in the query, and wait if Prometheus has only just started")

// decode returns a value per node, at least one. Of several series for a node the worst
// counts; NaN is no value.
func (c *client) decode(body []byte) (map[string]float64, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	}
	if a.Status != "success" {
		return nil, fmt.Errorf("query refused: %s: %s", a.ErrorType, a.Error)
	}
	if a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", a.Data.ResultType)
	}
	var samples []sample
	if err := json.Unmarshal(a.Data.Result, &samples); err != nil {
		return nil, fmt.Errorf("not a vector of Prometheus: %w", err)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("query %s: %w", c.promQL, errEmpty)
	}
	values := make(map[string]float64, len(samples))
	for _, s := range samples {
		text, _ := s.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("not a value of Prometheus: %w", err)
		}
		name := nodeName(s.Metric[c.label])
		if name == "" || math.IsNaN(value) {
			continue
		}
		if old, ok := values[name]; !ok || c.worse(value, old) {
			values[name] = value
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", len(samples), c.label)
	}
	return values, nil
}

// nodeName cuts the port off a label like instance. Names of nodes have no colon.
func nodeName(label string) string {
	if !strings.Contains(label, ":") {
		return label
	}
	host, _, err := net.SplitHostPort(label)
	if err != nil {
		return label
	}
	return host
}
