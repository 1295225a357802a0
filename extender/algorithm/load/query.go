package load

import (
	"regexp"
	"strings"
)

var labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// queries are the measures, per node, from 0 for idle to 1 for full, as
// node_exporter of 0.16 and later has them. %l is the node label.
//
// The rate of a counter that began ten seconds ago is too small, since Prometheus
// divides by the whole two minutes. That of all modes is too small by as much, so
// the idle share is right from the second sample on.
var queries = map[string]string{
	"cpu":    `1 - sum by (%l) (rate(node_cpu_seconds_total{mode="idle"}[2m])) / sum by (%l) (rate(node_cpu_seconds_total[2m]))`,
	"memory": `1 - sum by (%l) (node_memory_MemAvailable_bytes) / sum by (%l) (node_memory_MemTotal_bytes)`,
}

// promQL is the query to send.
func (c *Config) promQL() string {
	if c.Query != "" {
		return c.Query
	}
	measure := c.Measure
	if measure == "" {
		measure = "cpu"
	}
	return strings.ReplaceAll(queries[measure], "%l", c.NodeLabel)
}
