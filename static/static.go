// Package static embeds the built guests, as a static web server serves them. Its
// tests run them in wasmhost.
package static

import "embed"

// Files holds regex_v1.wasm and regex_v2.wasm at its root.
//
//go:embed *.wasm
var Files embed.FS
