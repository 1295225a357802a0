module wasmkwokwizardry.io/regex-scheduling/v2

go 1.25.0
