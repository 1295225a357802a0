package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestFlagsInARangeNameIt(t *testing.T) {
	const number = "use a whole number from 1 to 10"
	const span = "use a duration from 0s to 1h0m0s, such as 1m30s"
	for arg, want := range map[string]string{
		"--runs=1": "", "--runs=10": "", "--wait=0": "", "--wait=1h": "",
		"--runs=0":                    `invalid argument "0" for "--runs" flag: ` + number,
		"--runs=-1":                   `invalid argument "-1" for "--runs" flag: ` + number,
		"--runs=11":                   `invalid argument "11" for "--runs" flag: ` + number,
		"--runs=":                     `invalid argument "" for "--runs" flag: ` + number,
		"--runs=1e1":                  `invalid argument "1e1" for "--runs" flag: ` + number,
		"--runs=99999999999999999999": `invalid argument "99999999999999999999" for "--runs" flag: ` + number,
		"--wait=-5s":                  `invalid argument "-5s" for "--wait" flag: ` + span,
		"--wait=61m":                  `invalid argument "61m" for "--wait" flag: ` + span,
		"--wait=5":                    `invalid argument "5" for "--wait" flag: ` + span,
	} {
		runs, wait := 3, time.Minute
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Var(Number(&runs, 1, 10), "runs", "")
		flags.Var(Duration(&wait, 0, time.Hour), "wait", "")
		err := flags.Parse([]string{arg})
		got := ""
		if err != nil {
			got = err.Error()
			testkit.Equal(t, runs, 3, "--runs after %s", arg)
			testkit.Equal(t, wait, time.Minute, "--wait after %s", arg)
		}
		testkit.Equal(t, got, want, "%s", arg)
	}
}
