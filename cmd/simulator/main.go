// Command simulator runs a whole cluster in one process, with a web page, to see
// the regex scheduling plugin at work: etcd, kube-apiserver, fake kubelets and
// kube-scheduler.
package main

import "wasmkwokwizardry.io/regex-scheduling/simulator/command"

func main() { command.Main() }
