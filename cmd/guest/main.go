// Command guest is for people who write guests: it makes one, looks into it, runs it
// and measures it as the scheduler would, and keeps it in a registry. See
// docs/guests.md.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost/command"
)

func main() {
	wasmhost.CompileInChild()
	cli.Main(command.Run)
}
