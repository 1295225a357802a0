package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

// series is what one thing measured, round after round.
type series struct {
	benchmark, kase string
	nodes           int
	door, unit      string
}

// results are what a run printed.
type results struct {
	cpu    string
	doors  []string // in the order in which they were measured first
	values map[series]map[string]float64
}

// read reads the lines of the benchmarks, and skips all others.
func read(in io.Reader, file string) (*results, error) {
	var parser benchproc.ProjectionParser
	by, err := parser.Parse(".name,/case,/nodes,/door,/round", nil)
	if err != nil {
		return nil, err
	}
	r, lines := &results{values: map[series]map[string]float64{}}, benchfmt.NewReader(in, file)
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			if err := r.add(line, by); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if len(r.values) == 0 {
		return nil, fmt.Errorf("%s: no benchmarks", file)
	}
	if i := slices.Index(r.doors, "none"); i > 0 { // what the others are held against
		r.doors = slices.Insert(slices.Delete(r.doors, i, i+1), 0, "none")
	}
	return r, lines.Err()
}

func (r *results) add(line *benchfmt.Result, by *benchproc.Projection) error {
	var part [5]string
	for i, field := range by.FlattenedFields() {
		part[i] = by.Project(line).Get(field)
	}
	nodes, err := strconv.Atoi(cmp.Or(part[2], "0"))
	if err != nil || part[3] == "" || part[4] == "" {
		return fmt.Errorf("%s is no benchmark of a door in a round", line.Name)
	}
	r.cpu = cmp.Or(r.cpu, line.GetConfig("cpu"))
	if !slices.Contains(r.doors, part[3]) {
		r.doors = append(r.doors, part[3])
	}
	for _, v := range line.Values {
		s := series{part[0], part[1], nodes, part[3], v.Unit}
		if r.values[s] == nil {
			r.values[s] = map[string]float64{}
		}
		r.values[s][part[4]] = v.Value
	}
	return nil
}

// sizes are the numbers of nodes of a benchmark, or of all, rising.
func (r *results) sizes(benchmark string) (sizes []int) {
	for s := range r.values {
		if s.nodes > 0 && (benchmark == "" || s.benchmark == benchmark) {
			sizes = append(sizes, s.nodes)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// of sums a series up. Of nothing the median is NaN.
func (r *results) of(s series) benchmath.Summary {
	return summary(slices.Collect(maps.Values(r.values[s])))
}

// ratio divides two series round by round. What slows the whole machine down for
// a while is in both values of a round, and leaves their ratio as it was.
func (r *results) ratio(over, under series) benchmath.Summary {
	var ratios []float64
	for round, v := range r.values[over] {
		if u, ok := r.values[under][round]; ok && u > 0 {
			ratios = append(ratios, v/u)
		}
	}
	return summary(ratios)
}

// summary is the median, and between what it is with a confidence of 95%, or of
// what so few rounds allow.
func summary(values []float64) benchmath.Summary {
	switch n := len(values); n {
	case 0:
		return benchmath.Summary{Center: math.NaN()}
	case 1:
		return benchmath.Summary{Center: values[0], Lo: values[0], Hi: values[0]}
	default:
		attainable := 1 - math.Pow(2, 1-float64(n)) - 1e-9
		return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), min(0.95, attainable))
	}
}
