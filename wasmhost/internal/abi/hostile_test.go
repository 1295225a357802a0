package abi

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// module assembles a guest with 64 MiB of memory, a table of 2^20 entries, two functions
// that it imports, random_get and result.normalized_score_list, and one that is exported as
// filter, with so many local variables.
func module(locals int, filter []byte) []byte {
	sized := func(content ...[]byte) []byte {
		all := slices.Concat(content...)
		return append(binary.AppendUvarint(nil, uint64(len(all))), all...)
	}
	text := func(s string) []byte { return sized([]byte(s)) }
	section := func(id byte, content ...[]byte) []byte { return append([]byte{id}, sized(content...)...) }
	return slices.Concat([]byte("\x00asm\x01\x00\x00\x00"),
		section(sectionType, []byte{3, 0x60, 0, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 0}),
		section(sectionImport, []byte{2}, text("wasi_snapshot_preview1"), text("random_get"), []byte{0, 1},
			text("k8s.io/scheduler"), text("result.normalized_score_list"), []byte{0, 2}),
		section(sectionFunction, []byte{1, 0}),
		section(sectionTable, []byte{1, 0x70, 0, 0x80, 0x80, 0x40}),
		section(5, []byte{1, 0, 0x80, 0x08}), // a memory of 1,024 pages
		section(7, []byte{2}, text("memory"), []byte{2, 0}, text("filter"), []byte{0, 2}),
		section(sectionCode, []byte{1}, sized(binary.AppendUvarint([]byte{1}, uint64(locals)), []byte{0x7f}, filter, []byte{opEnd})))
}

var (
	zero  = []byte{opI32Const, 0}
	local = []byte{0x20, 0}
	load  = []byte{0x20, 0, 0x28, 0, 0} // of an i32, at the local
	add   = []byte{0x6a}
)

// livingValues has so many values at once.
func livingValues(count int) []byte {
	return slices.Concat(bytes.Repeat(load, count), bytes.Repeat(add, count-1))
}

// nested has blocks within one another.
func nested(depth int) []byte {
	begin := slices.Concat(local, []byte{opIf, 0x40}, load, []byte{0x21, 0})
	return slices.Concat(bytes.Repeat(begin, depth), bytes.Repeat([]byte{opEnd}, depth), zero)
}

// jumps has br_tables with so many targets in all, from within as many blocks as one has.
func jumps(blocks, targets int) []byte {
	one := []byte{}
	for range blocks {
		one = append(one, opBlock, 0x40)
	}
	one = append(append(one, local...), opBrTable)
	one = binary.AppendUvarint(one, uint64(blocks-1))
	for i := range blocks {
		one = binary.AppendUvarint(one, uint64(i))
	}
	for range blocks {
		one = append(append(append(one, load...), 0x21, 0), opEnd)
	}
	return append(bytes.Repeat(one, max(1, targets/blocks)), zero...)
}

// merges jumps so many times to a place where all locals are read.
func merges(locals, branches int) []byte {
	set := []byte{}
	for i := range locals {
		set = append(set, load...)
		set = binary.AppendUvarint(append(set, 0x21), uint64(i))
	}
	body := append([]byte{opBlock, 0x40}, set...)
	for i := range branches {
		body = append(body, load...)
		body = binary.AppendUvarint(append(body, 0x21), uint64(i%locals))
		body = append(append(body, local...), 0x0d, 0)
	}
	body = append(append(body, opEnd), zero...)
	for i := range locals {
		body = append(binary.AppendUvarint(append(body, 0x20), uint64(i)), 0x6a)
	}
	return body
}

// across has so many values that live across so many blocks.
func across(values, blocks int) []byte {
	return slices.Concat(bytes.Repeat(load, values),
		bytes.Repeat(slices.Concat(local, []byte{opIf, 0x40}, load, []byte{0x21, 0, opEnd}), blocks), bytes.Repeat(add, values-1))
}
