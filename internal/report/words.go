package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Plural is a number of things, such as "1 pod" and "2 pods".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

// Few names the first of many.
func Few(names []string) string {
	const few = 5
	if len(names) > few {
		names = append(slices.Clone(names[:few]), fmt.Sprintf("and %d more", len(names)-few))
	}
	return strings.Join(names, ", ")
}

// Brief is a duration as a person reads it.
func Brief(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Counted lists things with how many there are of each.
func Counted(things map[string]int) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(things)) {
		all = append(all, fmt.Sprint(things[what], " ", what))
	}
	return strings.Join(all, ", ")
}

// Age is how long ago something was.
func Age(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }
