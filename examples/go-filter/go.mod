module disk

go 1.25.0

require wasmkwokwizardry.io/regex-scheduling/guest v0.0.0

replace wasmkwokwizardry.io/regex-scheduling/guest => ../../guest
