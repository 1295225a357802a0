// Command scheduler is kube-scheduler that runs Wasm guests: every plugin of its
// configuration that carries a guestURL, and the native plugin RegexScheduling.
package main

import "wasmkwokwizardry.io/regex-scheduling/scheduler"

func main() { scheduler.Main() }
