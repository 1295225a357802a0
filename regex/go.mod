module wasmkwokwizardry.io/regex-scheduling/regex

go 1.25.0

require github.com/go-json-experiment/json v0.0.0-20250211171154-1ae217ad3535

require k8s.io/apimachinery v0.32.3

require k8s.io/utils v0.0.0-20241104100929-3ea5e8cea738 // indirect
