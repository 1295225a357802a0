package module

// What a module may have. Those with a star are the limits that WebAssembly's JavaScript Interface prescribes to browsers
// (https://webassembly.github.io/spec/js-api/#limits, "Implementation-defined Limits"): what a toolchain makes stays below them.
// wazero takes up to 650 bytes for each of the others, in the scheduler's process too, and there they are what a guest can use:
// there are some eighty functions to import and twenty hooks to export, and no more elements than tables have entries.
// The compiler bounds the time and memory that it takes to compile what is within them.
const (
	maxTypes      = 20_000
	maxFunctions  = 200_000 // a guest in Go with k8s.io/api, of 17 MB, has 8,291
	maxImports    = 1000
	maxExports    = 10_000
	maxGlobals    = 10_000
	maxData       = 100_000 // * segments
	maxTables     = 100
	maxElements   = maxInTables // segments, and entries of all of them
	maxParameters = 1000        // * and results
	maxFunction   = 7_654_321   // * bytes
	maxLocals     = 50_000      // * of a function, parameters included
	maxName       = 1000        // bytes of a name of an import or export; of that of a function, for errors, the rest is cut

	// maxValues bounds the parameters and results of all types together: wazero keeps a name for each type.
	maxValues = 100_000

	// maxAllLocals bounds the local variables of all functions together: a few bytes declare thousands, and wazero makes
	// room for each. A guest in Go with k8s.io/api, of 17 MB, has 46,242; guests on the SDK have up to 12,771.
	maxAllLocals = 256 << 10

	// maxInTables bounds the entries of all tables together. A guest in Go with k8s.io/api has 16,000. Each takes 8 bytes of an
	// instance, and an entry of a segment up to 40.
	maxInTables  = 1 << 17
	tableEntry   = 8
	elementEntry = 40
)
