package load

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// TestValuesAreInheritedFromWhoAskedTheSame changes a field at a time.
func TestValuesAreInheritedFromWhoAskedTheSame(t *testing.T) {
	prometheus, threshold := serve(t, vector(values)), 0.5
	config := defaults()
	config.URL = prometheus.URL
	old := build(t, config, time.Now)
	old.poll(t.Context())
	for field, c := range map[string]struct {
		change func(*Config)
		kept   bool
	}{
		"nothing":   {func(*Config) {}, true},
		"min, max":  {func(c *Config) { c.Min, c.Max = -1, 2 }, true},
		"missing":   {func(c *Config) { c.Missing = 0 }, true},
		"threshold": {func(c *Config) { c.Threshold = &threshold }, true},
		"times": {func(c *Config) {
			c.Interval, c.StaleAfter = metav1.Duration{Duration: time.Second}, metav1.Duration{Duration: time.Hour}
		}, true},
		"timeout":             {func(c *Config) { c.Timeout.Duration = time.Second }, true},
		"a slash":             {func(c *Config) { c.URL += "/" }, true},
		"the default, named":  {func(c *Config) { c.Measure = "cpu" }, true},
		"the default, quoted": {func(c *Config) { c.Query = c.promQL() }, true},
		"url":                 {func(c *Config) { c.URL += "/prefix" }, false},
		"measure":             {func(c *Config) { c.Measure = "memory" }, false},
		"query":               {func(c *Config) { c.Query = "up" }, false},
		"nodeLabel":           {func(c *Config) { c.NodeLabel = "node" }, false},
		"better":              {func(c *Config) { c.Better = More }, false},
		"bearerTokenFile":     {func(c *Config) { c.BearerTokenFile = "another" }, false},
	} {
		next := config
		c.change(&next)
		heir := build(t, next, time.Now)
		heir.Inherit(old)
		if got := heir.fresh() != nil; got != c.kept {
			t.Errorf("%s changes: kept %v", field, got)
		}
	}
}

type stranger struct{ algorithm.Algorithm }

// TestTheFreshestValuesAreInherited, and what was found out about them.
func TestTheFreshestValuesAreInherited(t *testing.T) {
	prometheus := serve(t, vector(map[string]string{"10.0.0.1": "1"}))
	config := defaults()
	config.URL = prometheus.URL
	now := time.Unix(1000, 0)
	at := func() time.Time { return now }
	older, newer, heir := build(t, config, at), build(t, config, at), build(t, config, at)
	older.poll(t.Context())
	now = now.Add(time.Second)
	newer.poll(t.Context())
	_, _ = newer.Prioritize(t.Context(), nodes)
	prometheus.answer = "nonsense"
	newer.poll(t.Context())
	for _, from := range []algorithm.Algorithm{older, newer, older, stranger{}, build(t, config, at)} {
		heir.Inherit(from)
	}
	got, want := heir.Health(), newer.Health()
	if got.Detail != want.Detail || got.Gauges["query_failures"] != 1 || got.Gauges["unmatched_requests"] != 1 || got.OK {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
