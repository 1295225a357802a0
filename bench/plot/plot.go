// Package plot draws charts as SVG that read well on a light and on a dark page
// without a legend: every line and every bar carries its own name. It has two
// kinds of chart, and is no library for others.
package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Tone says how much a series matters. Colours follow from it.
type Tone string

// The tones, each a class of the style sheet.
const (
	Hero   Tone = "hero"   // what the chart is about
	Second Tone = "second" // its rivals of the same kind
	Third  Tone = "third"  // another kind
	Other  Tone = "other"  // yet another
	Floor  Tone = "floor"  // bounds
)

const (
	width  = 760
	left   = 76 // of the plot area of lines
	right  = 150
	top    = 74
	bottom = 48
)

// palette has the colours of the classes on a page.
type palette struct{ page, ink, soft, grid, hero, second, third, other, floor string }

var (
	light = palette{"#ffffff", "#1f2328", "#59636e", "#d9dee3", "#c2410c", "#1d4ed8", "#15803d", "#7c3aed", "#6e7781"}
	dark  = palette{"#0d1117", "#e6edf3", "#9198a1", "#2b323b", "#fb923c", "#79a8ff", "#4ade80", "#c4a5ff", "#8b949e"}
)

// rules are without variables, which not every viewer of SVG knows.
func (p palette) rules() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".page{fill:%s}text{fill:%s}.sub,.tick{fill:%s}.grid{stroke:%s}.whisker{stroke:%s}", p.page, p.ink, p.soft, p.grid, p.ink)
	for _, c := range []struct {
		tone   Tone
		colour string
	}{{Hero, p.hero}, {Second, p.second}, {Third, p.third}, {Other, p.other}, {Floor, p.floor}} {
		fmt.Fprintf(&b, ".dot.%[1]s,.bar.%[1]s,.name.%[1]s{fill:%[2]s}.line.%[1]s{stroke:%[2]s}", c.tone, c.colour)
	}
	return b.String()
}

// style is for a light page and a dark one, as the reader's system has it.
var style = "<style>text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif}" +
	".title{font-size:17px;font-weight:600}.tick{font-size:12px}.hero{font-weight:600}" +
	".line{fill:none;stroke-width:2}.line.hero{stroke-width:3.5}.line.floor{stroke-dasharray:5 4}.grid{stroke-width:1}.whisker{stroke-width:1.5}" +
	light.rules() + "@media(prefers-color-scheme:dark){" + dark.rules() + "}</style>"

// canvas collects the elements of a chart.
type canvas struct {
	strings.Builder
	height int
}

func newCanvas(height int, title, sub string) *canvas {
	c := &canvas{height: height}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n%s\n", width, height, html.EscapeString(title+". "+sub), style)
	fmt.Fprintf(c, `<rect class="page" width="%d" height="%d" rx="6"/>`+"\n", width, height)
	c.text(20, 30, "title", "start", title)
	c.text(20, 51, "sub", "start", sub)
	return c
}

func (c *canvas) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, html.EscapeString(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x1, y1, x2, y2, class)
}

func (c *canvas) end() string { return c.String() + "</svg>\n" }

// axis maps values to places, in logarithms if it says so.
type axis struct {
	low, high  float64 // values
	begin, end float64 // places
	log        bool
}

func (a axis) at(v float64) float64 {
	if a.log {
		return a.begin + (math.Log(v)-math.Log(a.low))/(math.Log(a.high)-math.Log(a.low))*(a.end-a.begin)
	}
	return a.begin + (v-a.low)/(a.high-a.low)*(a.end-a.begin)
}

// ticks are round values: powers of ten, or about five steps.
func (a axis) ticks() (ticks []float64) {
	if a.log {
		for v := math.Pow(10, math.Ceil(math.Log10(a.low)-1e-9)); v <= a.high*1.0001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := math.Pow(10, math.Floor(math.Log10(a.high/3)))
	for a.high/step > 6 {
		step *= 2
	}
	for v := 0.; v <= a.high; v += step {
		ticks = append(ticks, v)
	}
	return ticks
}

// number is a tick's or a value's text.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", math.Round(v/1e4)/100)
	case v >= 1e4:
		return fmt.Sprintf("%gk", math.Round(v/100)/10)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
