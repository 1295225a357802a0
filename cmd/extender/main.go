// Command extender is a scheduler extender: kube-scheduler asks it over HTTP
// which nodes a pod may run on and how well. See docs/extender.md.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/extender/command"
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
)

func main() { cli.Main(command.Main) }
