//go:build tinygo.wasm

package main

// nottinygc takes over the memory of the guest: -gc=custom -tags=custommalloc.
import _ "github.com/wasilibs/nottinygc"
