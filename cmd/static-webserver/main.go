// Command static-webserver serves the built guests: http://…/regex_v2.wasm. It
// is what a cluster's scheduler fetches them from; see deploy/static-webserver.
package main

import (
	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/guestserver"
)

func main() { cli.Main(guestserver.Main) }
