// Package sample says in a few numbers what a measurement that was repeated
// came to.
package sample

import (
	"math"
	"slices"
)

// Sample is what one thing measured, again and again, in any order.
type Sample []float64

// Median is what a reader may expect to see again.
func (s Sample) Median() float64 { return s.Quantile(0.5) }

// Spread is half the distance between the quartiles, as a share of the median.
func (s Sample) Spread() float64 {
	if len(s) < 2 || s.Median() == 0 {
		return 0
	}
	return (s.Quantile(0.75) - s.Quantile(0.25)) / 2 / s.Median()
}

// Quantile interpolates between the two values nearest to q, which is from 0 to
// 1. Of nothing it is NaN.
func (s Sample) Quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Ratio divides two samples whose values were taken in turns, round by round.
// What slows the whole machine down for a while is in both values of a round,
// and leaves their ratio as it was: the median of the ratios is what verdicts
// are made of.
func Ratio(over, under Sample) Sample {
	ratios := make(Sample, min(len(over), len(under)))
	for i := range ratios {
		ratios[i] = over[i] / under[i]
	}
	return ratios
}

// Mean adds samples whose values were taken in turns up, round by round, as far
// as all of them go, and divides by their number.
func Mean(all ...Sample) (mean Sample) {
	for i, s := range all {
		if i == 0 {
			mean = make(Sample, len(s))
		}
		mean = mean[:min(len(mean), len(s))]
		for round := range mean {
			mean[round] += s[round] / float64(len(all))
		}
	}
	return mean
}

// Scale multiplies every value.
func (s Sample) Scale(factor float64) Sample {
	scaled := make(Sample, len(s))
	for i, v := range s {
		scaled[i] = v * factor
	}
	return scaled
}
