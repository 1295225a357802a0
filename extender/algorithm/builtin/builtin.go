// Package builtin registers every algorithm that the extender comes with. It
// is imported for that effect and exports nothing.
package builtin

import (
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/load"
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/lucky"
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/nop"
	_ "wasmkwokwizardry.io/regex-scheduling/extender/algorithm/regex"
)
