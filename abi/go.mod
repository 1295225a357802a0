// What a host must do with guests, as data. Hosts with any version of Kubernetes require it, and it requires nothing.
module wasmkwokwizardry.io/regex-scheduling/abi

go 1.25.0
