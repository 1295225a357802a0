package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestChartsAreWellFormedAndNameEverything(t *testing.T) {
	charts := map[string]string{
		"lines": Lines("Cost <per> pod", "µs & more", "nodes", []Series{
			{Name: "v2", Tone: Hero, X: []float64{100, 1000}, Y: []float64{10, 99}},
			{Name: "floor & co", Tone: Floor, X: []float64{100, 1000}, Y: []float64{10, 98}},
		}),
		"bars":           Bars("Pods", "per second", false, []Bar{{"v2", Hero, 400, 390, 410}, {"floor & co", Floor, 900, 880, 930}}),
		"logarithms too": Bars("ns", "per node", true, []Bar{{"v2", Hero, 400, 390, 410}, {"floor & co", Floor, 90000, 88000, 93000}}),
	}
	for name, chart := range charts {
		d := xml.NewDecoder(strings.NewReader(chart))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, chart)
			}
		}
		if strings.Contains(chart, "NaN") || strings.Contains(chart, "Inf") || !strings.Contains(chart, "floor &amp; co") {
			t.Errorf("%s: %s", name, chart)
		}
	}
}

func TestNamesAreMovedApart(t *testing.T) {
	places := []float64{100, 101, 102, 300}
	spreadOut(places, 16)
	for i := 1; i < len(places); i++ {
		if places[i]-places[i-1] < 15.9 {
			t.Errorf("%v", places)
		}
	}
	if places[3] != 300 {
		t.Errorf("%v: the last was not in anyone's way", places)
	}
}
