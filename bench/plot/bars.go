package plot

import (
	"fmt"
	"math"
	"slices"
)

// Bar is a value with a name, and the quartiles around it.
type Bar struct {
	Name             string
	Tone             Tone
	Value, Low, High float64
}

// Bars draws a bar for each value, from the first to the last. With log, the
// axis begins at a power of ten below the least value, in logarithms.
func Bars(title, sub string, log bool, bars []Bar) string {
	const row, begin = 30, 128
	height := top + row*len(bars) + bottom
	c := newCanvas(height, title, sub)
	x := axis{high: highest(bars), begin: begin, end: width - 96, log: log}
	if log {
		x.low = math.Pow(10, math.Floor(math.Log10(lowest(bars)*0.99)))
	}
	for _, v := range x.ticks() {
		c.line(x.at(v), top-6, x.at(v), float64(height-bottom), "grid")
		c.text(x.at(v), float64(height-bottom+18), "tick", "middle", number(v))
	}
	for i, b := range bars {
		y := float64(top + row*i)
		fmt.Fprintf(c, `<rect class="bar %s" x="%d" y="%.1f" width="%.1f" height="%d" rx="2"/>`+"\n", b.Tone, begin, y, x.at(b.Value)-begin, row-10)
		c.line(x.at(b.Low), y+(row-10)/2, x.at(b.High), y+(row-10)/2, "whisker")
		c.text(begin-10, y+15, "name "+string(b.Tone), "end", b.Name)
		c.text(x.at(max(b.Value, b.High))+7, y+15, string(b.Tone), "start", number(b.Value))
	}
	return c.end()
}

func highest(bars []Bar) float64 {
	return slices.MaxFunc(bars, func(a, b Bar) int { return int(math.Copysign(1, a.High-b.High)) }).High
}

func lowest(bars []Bar) float64 {
	return slices.MinFunc(bars, func(a, b Bar) int { return int(math.Copysign(1, a.Low-b.Low)) }).Low
}
