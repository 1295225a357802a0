package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// series is what one thing measured, round after round.
type series struct {
	benchmark, kase string
	nodes           int
	variant, unit   string
}

// results are what a run printed.
type results struct {
	cpu      string
	sizes    []int    // numbers of nodes, and variants, in the order in which
	variants []string // they were measured first
	values   map[series]map[string]float64
}

// read reads the lines of the benchmarks, and skips all others.
func read(in io.Reader, file string) (*results, error) {
	r, lines := &results{values: map[series]map[string]float64{}}, benchfmt.NewReader(in, file)
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			if err := r.add(line); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if len(r.values) == 0 {
		return nil, fmt.Errorf("%s: no benchmarks", file)
	}
	return r, lines.Err()
}

func (r *results) add(line *benchfmt.Result) error {
	benchmark, parts := line.Name.Parts()
	of := map[string]string{"/nodes": "0"}
	for _, part := range parts {
		key, value, _ := strings.Cut(string(part), "=")
		of[key] = value
	}
	nodes, err := strconv.Atoi(of["/nodes"])
	if err != nil || of["/plugin"] == "" || of["/round"] == "" {
		return fmt.Errorf("%s is not a benchmark of a variant in a round", line.Name)
	}
	r.cpu = line.GetConfig("cpu")
	if !slices.Contains(r.variants, of["/plugin"]) {
		r.variants = append(r.variants, of["/plugin"])
	}
	if !slices.Contains(r.sizes, nodes) {
		r.sizes = append(r.sizes, nodes)
	}
	for _, v := range line.Values {
		s := series{string(benchmark), of["/case"], nodes, of["/plugin"], v.Unit}
		if r.values[s] == nil {
			r.values[s] = map[string]float64{}
		}
		r.values[s][of["/round"]] = v.Value
	}
	return nil
}

// summary is the median of a series, and between what it is with a confidence of 95%, as
// benchstat has them: NaN of nothing. With another series it is that of their ratio, round
// by round: what slows the whole machine down for a while is in both values of a round.
func (r *results) summary(of, under series) benchmath.Summary {
	var values []float64
	for round, v := range r.values[of] {
		if under == (series{}) {
			values = append(values, v)
		} else if u := r.values[under][round]; u > 0 {
			values = append(values, v/u)
		}
	}
	if len(values) == 0 {
		return benchmath.Summary{Center: math.NaN()}
	}
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
}
