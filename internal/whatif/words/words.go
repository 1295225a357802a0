// Package words has what reports of different kinds say alike. It is no API.
package words

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
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
	if more := len(names) - few; more > 0 {
		names = append(slices.Clone(names[:few]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// JSON writes something for programs.
func JSON(w io.Writer, of any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(of)
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
