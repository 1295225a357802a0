package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// number is a flag with a whole number in a range.
type number[T ~int | ~int32] struct {
	value       *T
	least, most T
}

// Number makes a flag that takes a whole number in a range. What it has now is the default.
func Number[T ~int | ~int32](value *T, least, most T) pflag.Value {
	return number[T]{value, least, most}
}

func (n number[T]) String() string { return fmt.Sprint(*n.value) }

// Type implements pflag.Value: help shows it behind the flag.
func (n number[T]) Type() string { return "int" }

func (n number[T]) Set(text string) error {
	value, err := strconv.ParseInt(text, 0, 64)
	if err != nil || value < int64(n.least) || value > int64(n.most) {
		return fmt.Errorf("use a whole number from %d to %d", n.least, n.most)
	}
	*n.value = T(value)
	return nil
}

// duration is a flag with a duration in a range.
type duration struct {
	value       *time.Duration
	least, most time.Duration
}

// Duration makes a flag that takes a duration in a range. What it has now is the default.
func Duration(value *time.Duration, least, most time.Duration) pflag.Value {
	return duration{value, least, most}
}

func (d duration) String() string { return d.value.String() }

// Type implements pflag.Value: help shows it behind the flag.
func (d duration) Type() string { return "duration" }

func (d duration) Set(text string) error {
	value, err := time.ParseDuration(text)
	if err != nil || value < d.least || value > d.most {
		return fmt.Errorf("use a duration from %s to %s, such as 1m30s", d.least, d.most)
	}
	*d.value = value
	return nil
}
