// Package sample says in a few numbers what a measurement that was repeated
// came to.
package sample

import (
	"math"
	"slices"
)

// Sample is what one thing measured, again and again, in any order.
type Sample []float64

// Best is the least value. Other work on the machine can only add to a time, so
// of interleaved batches the least is the nearest to what the work itself
// costs: ratios are made of it.
func (s Sample) Best() float64 { return s.Quantile(0) }

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
