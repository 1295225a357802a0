//go:build !wasip1

package guest

import "embed"

// Source is the kit itself, for tools that put it beside a guest: it needs no other
// module.
//
//go:embed *.go */*.go internal/*/*.go
var Source embed.FS

// RustSource is the crate for guests in Rust, in the folder rust. It needs no other crate.
//
//go:embed rust/Cargo.toml rust/src
var RustSource embed.FS
