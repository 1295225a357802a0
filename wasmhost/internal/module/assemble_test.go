package module

import (
	"encoding/binary"
	"slices"
)

// Further instructions.
const (
	opBr           = 0x0c
	opBrIf         = 0x0d
	opTypedSelect  = 0x1c
	opLocalTee     = 0x22
	opI32Load      = 0x28
	opI32Store     = 0x36
	opI32Eqz       = 0x45
	opI32RemU      = 0x70
	bulkMemoryCopy = 10
	bulkMemoryFill = 11
	bulkTableCopy  = 14
	bulkTableGrow  = 15
	bulkTableFill  = 17

	typeFuncref   = 0x70
	typeExternref = 0x6f
)

// join assembles bytes of a module from bytes, numbers and slices of bytes.
func join(parts ...any) (b []byte) {
	for _, part := range parts {
		switch part := part.(type) {
		case []byte:
			b = append(b, part...)
		case string:
			b = append(b, sized(part)...)
		case int: // an opcode, an index or a length
			b = binary.AppendUvarint(b, uint64(part))
		default:
			panic(part)
		}
	}
	return b
}

// sized is what it is given, after its length.
func sized(parts ...any) []byte {
	text, ok := parts[0].(string)
	if ok && len(parts) == 1 {
		return appendSized(nil, []byte(text))
	}
	return appendSized(nil, join(parts...))
}

func list(entries ...[]byte) []byte { return join(len(entries), slices.Concat(entries...)) }

// op is an instruction.
func op(op byte, immediates ...any) []byte { return append([]byte{op}, join(immediates...)...) }

// i32 pushes a number.
func i32(v int) []byte { return appendConst(nil, v) }

// guest is a module with a memory that exports a function () -> i32, filter.
type guest struct {
	types     [][]byte // after () -> i32, (i32) -> i32 and (i32, i32) -> i32
	functions [][]byte // bodies of functions (i32) -> i32, called 2 and so on
	filter    []byte   // the body of the last function
	pages     int
	globals   [][]byte
	exports   [][]byte
	elements  [][]byte
	more      map[byte][]byte // sections that take the place of those made
}

// What a guest imports.
const (
	severity  = 0 // () -> i32
	randomGet = 1 // (i32, i32) -> i32
	imported  = 2
)

// The signatures of a guest.
const (
	typeFilter = 0
	typeOne    = 1
	typeTwo    = 2
)

// body is the body of a function with so many local variables, i32, beside its parameters.
func body(locals int, code ...[]byte) []byte {
	return join(list(join(locals, []byte{typeI32})), slices.Concat(code...), []byte{opEnd})
}

func (g guest) wasm() []byte {
	types := append([][]byte{{typeFunction, 0, 1, typeI32}, {typeFunction, 1, typeI32, 1, typeI32}, {typeFunction, 2, typeI32, typeI32, 1, typeI32}}, g.types...)
	var numbers, code [][]byte
	for _, body := range g.functions {
		numbers = append(numbers, []byte{typeOne})
		code = append(code, sized(body))
	}
	filter := imported + len(g.functions)
	made := map[byte][]byte{
		sectionType:     list(types...),
		sectionImport:   list(join("k8s.io/klog", "severity", 0, typeFilter), join("wasi_snapshot_preview1", "random_get", 0, typeTwo)),
		sectionFunction: list(append(numbers, []byte{typeFilter})...),
		sectionTable:    list(join([]byte{typeFuncref, 0}, 64)),
		sectionMemory:   list(join(0, max(1, g.pages))),
		sectionGlobal:   list(g.globals...),
		sectionExport:   list(append([][]byte{join("memory", kindMemory, 0), join("filter", kindFunction, filter)}, g.exports...)...),
		sectionElement:  list(g.elements...),
		sectionCode:     list(append(code, sized(g.filter))...),
	}
	wasm := []byte(header)
	for _, of := range sections {
		content := made[of.id]
		if other, ok := g.more[of.id]; ok {
			content = other
		}
		if content != nil {
			wasm = appendSized(append(wasm, of.id), content)
		}
	}
	if custom, ok := g.more[sectionCustom]; ok {
		wasm = appendSized(append(wasm, sectionCustom), custom)
	}
	return wasm
}

// answers is a guest whose filter runs some code and answers 7.
func answers(code ...[]byte) guest { return guest{filter: body(4, append(code, i32(7))...)} }
