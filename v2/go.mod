module wasmkwokwizardry.io/regex-scheduling/v2

go 1.25.0

require (
	github.com/wasilibs/nottinygc v0.7.1
	wasmkwokwizardry.io/regex-scheduling/guest v0.0.0
	wasmkwokwizardry.io/regex-scheduling/regex v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20250211171154-1ae217ad3535 // indirect
	github.com/magefile/mage v1.14.0 // indirect
)

replace (
	wasmkwokwizardry.io/regex-scheduling/guest => ../guest
	wasmkwokwizardry.io/regex-scheduling/regex => ../regex
)
