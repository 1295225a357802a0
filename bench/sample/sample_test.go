package sample

import (
	"math"
	"testing"
)

func TestSample(t *testing.T) {
	s := Sample{4, 1, 3, 2, 5}
	for name, tt := range map[string]struct{ got, want float64 }{
		"ratios are taken round by round":    {Ratio(Sample{2, 40, 3}, Sample{1, 20, 2}).Median(), 2},
		"a ratio lacks the rounds one lacks": {Ratio(Sample{2, 40, 3}, Sample{1}).Quantile(1), 2},
		"a mean is taken round by round":     {Mean(Sample{1, 3, 9}, Sample{3, 5}).Median(), 3},
		"a mean lacks the rounds one lacks":  {Mean(Sample{1, 3, 9}, Sample{3, 5}).Quantile(1), 4},
		"a scaled sample":                    {s.Scale(2).Median(), 6},
		"the median":                         {s.Median(), 3},
		"a quantile between two values":      {s.Quantile(0.9), 4.6},
		"the spread is a share":              {s.Spread(), 1. / 3},
		"one value has no spread":            {Sample{7}.Spread(), 0},
		"an even number of values":           {Sample{1, 2}.Median(), 1.5},
		"the last quantile is the greatest":  {s.Quantile(1), 5},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
		}
	}
	if !math.IsNaN(Sample(nil).Median()) {
		t.Error("nothing has a median")
	}
}
