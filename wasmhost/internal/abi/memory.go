package abi

import (
	"encoding/binary"
	"encoding/json"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/guest/abi"
)

// read is a view of the guest's memory, which the guest may change later on. A
// guest traps that names bytes that it does not have, or more than are taken.
func (i *Instance) read(at, size, most uint64, what string) []byte {
	size = uint64(uint32(size))
	if size > most {
		panic(handedOver(what, "%d bytes, and at most %d are taken", size, most))
	}
	b, ok := i.memory.Read(uint32(at), uint32(size))
	if !ok {
		panic(handedOver(what, "out of the guest's memory: %d bytes at %d", size, uint32(at)))
	}
	return b
}

// readName reads the name of an object, or its UID.
func (i *Instance) readName(at, size uint64, what string) string {
	return string(i.read(at, size, abi.MaxName, what))
}

// write returns the size of b. It writes b only if that is within the limit. A guest whose buffer is not in its memory traps.
func write[T string | []byte](i *Instance, b T, buf, limit uint64) uint64 {
	size := uint64(len(b))
	if size > 0 && size <= uint64(uint32(limit)) {
		copy(i.read(buf, size, size, "the buffer"), b)
	}
	return size
}

// writeNumber is write for eight bytes, the lowest first.
func (i *Instance) writeNumber(n, buf, limit uint64) {
	write(i, binary.LittleEndian.AppendUint64(nil, n), buf, limit)
}

// writeMessage is write for an object.
func (i *Instance) writeMessage(m Message, buf, limit uint64) uint64 {
	if m == nil {
		return 0
	}
	b, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	return write(i, b, buf, limit)
}

// writeJSON is write for what is encoded as JSON.
func (i *Instance) writeJSON(v any, buf, limit uint64) uint64 {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return write(i, b, buf, limit)
}

// writeMade is writeJSON for what is made now, or for what is there where nothing is made.
func (i *Instance) writeMade(made func() any, otherwise any, buf, limit uint64) uint64 {
	if made != nil {
		otherwise = made()
	}
	return i.writeJSON(otherwise, buf, limit)
}

// terminated reads strings that each end with a NUL. It skips empty ones, and what
// follows the last NUL. If there are more than that many, all is false.
func terminated(b []byte, most int) (entries []string, all bool) {
	text := string(b) // which the entries share
	for entry := range strings.SplitSeq(text[:strings.LastIndexByte(text, 0)+1], "\x00") {
		switch {
		case entry == "":
		case len(entries) == most:
			return entries, false
		default:
			entries = append(entries, entry)
		}
	}
	return entries, true
}
