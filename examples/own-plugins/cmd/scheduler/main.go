// Command scheduler is the scheduler, with plugins of our own in it.
package main

import (
	ownplugins "wasmkwokwizardry.io/regex-scheduling/examples/own-plugins"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
)

func main() { scheduler.Main(ownplugins.All...) }
