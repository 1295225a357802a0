package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Series is a line with a name.
type Series struct {
	Name string
	Tone Tone
	X, Y []float64
}

// Lines draws a line for each series, both axes in logarithms, with its name
// at its end.
func Lines(title, sub, xUnit string, series []Series) string {
	const height = 470
	c := newCanvas(height, title, sub)
	xs, ys := axes(series, height)
	for _, v := range ys.ticks() {
		c.line(left, ys.at(v), width-right, ys.at(v), "grid")
		c.text(left-8, ys.at(v)+4, "tick", "end", number(v))
	}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(allX(series)))) {
		c.line(xs.at(v), top, xs.at(v), height-bottom, "grid")
		c.text(xs.at(v), height-bottom+18, "tick", "middle", fmt.Sprintf("%.0f", v))
	}
	c.text((left+width-right)/2, height-12, "tick", "middle", xUnit)
	series = slices.SortedStableFunc(slices.Values(series), func(a, b Series) int { return rank(a.Tone) - rank(b.Tone) }) // the hero on top
	for _, s := range series {
		c.series(s, xs, ys)
	}
	c.names(series, xs, ys)
	return c.end()
}

func rank(t Tone) int { return slices.Index([]Tone{Floor, Other, Third, Second, Hero}, t) }

func allX(series []Series) (xs []float64) {
	for _, s := range series {
		xs = append(xs, s.X...)
	}
	return xs
}

func axes(series []Series, height float64) (x, y axis) {
	var ys []float64
	for _, s := range series {
		ys = append(ys, s.Y...)
	}
	xs := allX(series)
	x = axis{low: slices.Min(xs) / 1.1, high: slices.Max(xs) * 1.05, begin: left, end: width - right, log: true}
	low, high := math.Pow(10, math.Floor(math.Log10(slices.Min(ys)))), slices.Max(ys)*1.3
	return x, axis{low: low, high: high, begin: height - bottom, end: top, log: true}
}

func (c *canvas) series(s Series, xs, ys axis) {
	var path strings.Builder
	for i := range s.X {
		fmt.Fprintf(&path, "%.1f,%.1f ", xs.at(s.X[i]), ys.at(s.Y[i]))
	}
	fmt.Fprintf(c, `<polyline class="line %s" points="%s"/>`+"\n", s.Tone, strings.TrimSpace(path.String()))
	for i := range s.X {
		fmt.Fprintf(c, `<circle class="dot %s" cx="%.1f" cy="%.1f" r="3.5"/>`+"\n", s.Tone, xs.at(s.X[i]), ys.at(s.Y[i]))
	}
}

// names puts each name beside the last point, moved apart where they would
// overlap.
func (c *canvas) names(series []Series, xs, ys axis) {
	const distance = 16
	sorted := slices.Clone(series)
	slices.SortFunc(sorted, func(a, b Series) int { return int(math.Copysign(1, b.Y[len(b.Y)-1]-a.Y[len(a.Y)-1])) })
	places := make([]float64, len(sorted))
	for i, s := range sorted {
		places[i] = ys.at(s.Y[len(s.Y)-1])
	}
	spreadOut(places, distance)
	for i, s := range sorted {
		x := xs.at(s.X[len(s.X)-1])
		c.text(x+10, places[i]+4, fmt.Sprintf("name %s", s.Tone), "start", fmt.Sprintf("%s  %s", s.Name, number(s.Y[len(s.Y)-1])))
	}
}

// spreadOut moves sorted places apart until none is nearer to the next than
// distance, as little as that takes.
func spreadOut(places []float64, distance float64) {
	for range 100 {
		for i := 1; i < len(places); i++ {
			if gap := distance - (places[i] - places[i-1]); gap > 0.01 {
				places[i-1] -= gap / 2
				places[i] += gap / 2
			}
		}
	}
}
