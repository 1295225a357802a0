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
	Other  Tone = "other"  // other ways
	Floor  Tone = "floor"  // bounds
)

const (
	width  = 760
	left   = 76 // of the plot area of lines
	right  = 150
	top    = 74
	bottom = 48
)

// style has the colours of a light page, and of a dark one.
const style = `<style>
  svg{--bg:#ffffff;--ink:#1f2328;--soft:#59636e;--grid:#d9dee3;--hero:#c2410c;--second:#1d4ed8;--other:#7c3aed;--floor:#6e7781}
  @media(prefers-color-scheme:dark){svg{--bg:#0d1117;--ink:#e6edf3;--soft:#9198a1;--grid:#2b323b;--hero:#fb923c;--second:#79a8ff;--other:#c4a5ff;--floor:#8b949e}}
  text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
  .title{font-size:17px;font-weight:600}.sub,.tick{fill:var(--soft)}.tick{font-size:12px}
  .grid{stroke:var(--grid);stroke-width:1}.line{fill:none;stroke-width:2}
  .bg{fill:var(--bg)}
  .hero{--c:var(--hero)}.second{--c:var(--second)}.other{--c:var(--other)}.floor{--c:var(--floor)}
  .line{stroke:var(--c)}.line.hero{stroke-width:3.5}.line.floor{stroke-dasharray:5 4}
  .dot,.bar{fill:var(--c)}.name{fill:var(--c)}text.hero{font-weight:600}
  .whisker{stroke:var(--ink);stroke-width:1.5}
</style>`

// canvas collects the elements of a chart.
type canvas struct {
	strings.Builder
	height int
}

func newCanvas(height int, title, sub string) *canvas {
	c := &canvas{height: height}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n%s\n", width, height, html.EscapeString(title+". "+sub), style)
	fmt.Fprintf(c, `<rect class="bg" width="%d" height="%d" rx="6"/>`+"\n", width, height)
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
