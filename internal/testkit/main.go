package testkit

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// Main is a TestMain whose tests share what start starts. It does not return.
func Main(m *testing.M, start func(context.Context) (stop func() error, err error)) {
	code := 1
	stop, err := start(context.Background())
	if err == nil {
		code = m.Run()
		err = stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
