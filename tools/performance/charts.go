package main

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// picture is an SVG file, named relative to the folder of the page.
type picture struct{ file, about string }

// charts draws into a folder.
func (r *results) charts(folder string) (pictures []picture, err error) {
	for _, chart := range []struct {
		name, about string
		draw        func() (*plot.Plot, error)
	}{
		{"cost-per-pod.svg", "What a pod costs, by the number of nodes: one line per door", r.costPerPod},
		{"whole-scheduler.svg", "Pods per second of a whole scheduler: one group of bars per door", r.wholeScheduler},
	} {
		p, err := chart.draw()
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if err := save(p, filepath.Join(folder, chart.name)); err != nil {
			return nil, err
		}
		pictures = append(pictures, picture{filepath.Base(folder) + "/" + chart.name, chart.about})
	}
	return pictures, nil
}

func save(p *plot.Plot, file string) error {
	drawing, err := p.WriterTo(19*vg.Centimeter, 11*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	var svg bytes.Buffer
	if _, err := drawing.WriteTo(&svg); err != nil {
		return err
	}
	// Arial and Helvetica are as wide as the font that few readers have.
	text := strings.ReplaceAll(svg.String(), "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	return os.WriteFile(file, []byte(text), 0o644)
}

func newPlot(title, y string) *plot.Plot {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = title, y
	p.Title.Padding = vg.Points(8)
	// To the right, but with the names behind their colours: a font that is wider
	// than ours then covers nothing.
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs = true, true, 11*vg.Centimeter
	return p
}

// costPerPod is a line for each door that decides something, the dearest first.
func (r *results) costPerPod() (*plot.Plot, error) {
	sizes := r.sizes("Cycle")
	if len(sizes) < 2 {
		return nil, nil
	}
	p := newPlot("What a pod costs in each door", "µs per cycle")
	p.X.Label.Text, p.X.Scale, p.X.Tick.Marker = "nodes", plot.LogScale{}, at(sizes)
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, powers{}
	p.Add(plotter.NewGrid())
	cost := func(door string, n int) float64 {
		return r.of(series{"Cycle", "prefix", n, door, "cpu-sec/op"}).Center * 1e6
	}
	doors := slices.DeleteFunc(r.policies(), func(door string) bool { return !(cost(door, sizes[len(sizes)-1]) > 0) })
	slices.SortFunc(doors, func(a, b string) int { return cmp.Compare(cost(b, sizes[len(sizes)-1]), cost(a, sizes[len(sizes)-1])) })
	for i, door := range doors {
		var points plotter.XYs
		for _, n := range sizes {
			if v := cost(door, n); v > 0 {
				points = append(points, plotter.XY{X: float64(n), Y: v})
			}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = plotutil.DarkColors[i%len(plotutil.DarkColors)], 1.5
		dots.Color = line.Color
		p.Add(line, dots)
		p.Legend.Add(door, line, dots)
	}
	p.X.Max *= 3 // room for the legend
	p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(p.Y.Min))), math.Pow(10, math.Ceil(math.Log10(p.Y.Max)))
	return p, nil
}

// wholeScheduler is a group of bars for each door, one for each number of nodes.
func (r *results) wholeScheduler() (*plot.Plot, error) {
	sizes := r.sizes("Scheduler")
	if len(sizes) == 0 {
		return nil, nil
	}
	p := newPlot("What a whole scheduler achieves with each door", "pods per second")
	var doors []string
	for _, door := range r.doors {
		if len(r.values[series{"Scheduler", "all", sizes[0], door, "pods/s"}]) > 0 {
			doors = append(doors, door)
		}
	}
	const width = 18
	for i, n := range sizes {
		var rates plotter.Values
		for _, door := range doors {
			rate := r.of(series{"Scheduler", "all", n, door, "pods/s"}).Center
			rates = append(rates, max(0, rate))
		}
		bars, err := plotter.NewBarChart(rates, vg.Points(width))
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle.Width = plotutil.SoftColors[i%len(plotutil.SoftColors)], 0
		bars.Offset = vg.Points(width * (float64(i) - float64(len(sizes)-1)/2))
		p.Add(bars)
		p.Legend.Add(thousands(n)+" nodes", bars)
	}
	p.NominalX(doors...)
	p.X.Min, p.X.Max = -0.5, float64(len(doors))-0.5
	return p, nil
}

// at are ticks at numbers of nodes.
type at []int

// Ticks implements plot.Ticker.
func (a at) Ticks(_, _ float64) (ticks []plot.Tick) {
	for _, n := range a {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: thousands(n)})
	}
	return ticks
}

// powers are ticks at powers of ten.
type powers struct{}

// Ticks implements plot.Ticker.
func (powers) Ticks(low, high float64) (ticks []plot.Tick) {
	for v := math.Pow(10, math.Ceil(math.Log10(low))); v <= high*1.001; v *= 10 {
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
	}
	return ticks
}
