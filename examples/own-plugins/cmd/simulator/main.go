// Command simulator is the simulator, with plugins of our own in it.
package main

import (
	ownplugins "wasmkwokwizardry.io/regex-scheduling/examples/own-plugins"
	"wasmkwokwizardry.io/regex-scheduling/simulator/command"
)

func main() { command.Main(ownplugins.All...) }
