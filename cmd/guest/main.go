// Command guest is for people who write guests: it creates one, inspects it, and runs it
// as the scheduler would. See docs/guests.md.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestcommand"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

func main() {
	wasmhost.CompileInChild()
	cli.Main(guestcommand.Run)
}
