package compiler

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// What is needed of WebAssembly's binary format.
const (
	sectionType, sectionFunction, sectionTable, sectionMemory, sectionGlobal = 1, 3, 4, 5, 6
	sectionExport, sectionElement, sectionCode                               = 7, 9, 10
	opIf, opEnd, opCall, opConst, opAdd                                      = 0x04, 0x0b, 0x10, 0x41, 0x6a
	opLocalGet, opLocalSet, opGlobalGet, opGlobalSet                         = 0x20, 0x21, 0x23, 0x24
	i32, noResult                                                            = 0x7f, 0x40
)

func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func sized(content ...[]byte) []byte {
	all := slices.Concat(content...)
	return append(number(len(all)), all...)
}

func section(id byte, content ...[]byte) []byte { return append([]byte{id}, sized(content...)...) }

// assemble makes a module that has two functions, the first of which is exported, returns 42 after what code does, and has
// so many locals; and further sections in their order, before and after the code.
func assemble(locals int, code []byte, before, after []byte) []byte {
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(sectionType, []byte{2, 0x60, 0, 1, i32, 0x60, 0, 0}),
		section(sectionFunction, []byte{2, 0, 1}),
		section(sectionTable, []byte{1, 0x70, 0, 10}),
		section(sectionMemory, []byte{1, 0, 1}),
		before,
		section(sectionCode, []byte{2}, sized([]byte{1}, number(locals), []byte{i32}, code, []byte{opConst, 42, opEnd}), sized([]byte{0, opEnd})),
		after)
}

var exported = section(sectionExport, []byte{1}, sized([]byte("answer")), []byte{0, 0})

func globals(count int) []byte {
	return section(sectionGlobal, number(count), bytes.Repeat([]byte{i32, 1, opConst, 0, opEnd}, count))
}

// each has an instruction for each of so many indices: it is read, increased and written.
func each(get, set byte, count int) (code []byte) {
	for i := range count {
		code = slices.Concat(code, []byte{get}, number(i), []byte{opConst, 1, opAdd, set}, number(i))
	}
	return code
}

// bombs are modules that wazero takes gigabytes for.
var bombs = map[string]func() []byte{
	"2,000 globals and 20,000 calls": func() []byte {
		use := each(opGlobalGet, opGlobalSet, 2000)
		return assemble(1, slices.Concat(use, bytes.Repeat([]byte{opCall, 1}, 20_000), use), slices.Concat(globals(2000), exported), nil)
	},
	"2,000 locals and 10,000 blocks": func() []byte {
		block := slices.Concat([]byte{opLocalGet, 0, opIf, noResult}, each(opLocalGet, opLocalSet, 2), []byte{opEnd})
		return assemble(2000, slices.Concat(bytes.Repeat(block, 10_000), each(opLocalGet, opLocalSet, 2000)), exported, nil)
	},
}
