module wasmkwokwizardry.io/regex-scheduling/v1

go 1.25.0
