package module

// What a module may have. Those with a star are the limits that WebAssembly's JavaScript Interface prescribes to browsers
// (https://webassembly.github.io/spec/js-api/#limits, "Implementation-defined Limits"): what a toolchain makes stays below them.
// The compiler bounds the time and memory that it takes to compile what is within them.
const (
	maxTypes      = 1_000_000  // *
	maxFunctions  = 1_000_000  // *
	maxImports    = 1_000_000  // *
	maxExports    = 1_000_000  // *
	maxGlobals    = 1_000_000  // *
	maxData       = 100_000    // * segments
	maxTables     = 100_000    // *
	maxElements   = 10_000_000 // * segments, and entries of one
	maxParameters = 1000       // * and results
	maxFunction   = 7_654_321  // * bytes
	maxLocals     = 50_000     // * of a function, parameters included

	// maxAllLocals bounds the local variables of all functions together: a few bytes declare thousands, and wazero makes
	// room for each. A guest in Go with k8s.io/api, of 17 MB, has 46,242; guests on the SDK have up to 12,771.
	maxAllLocals = 256 << 10

	// maxInTables bounds the entries of all tables together, of 8 bytes each, which count in no limit of memory.
	maxInTables = 1 << 20
)
