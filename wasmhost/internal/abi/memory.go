package abi

import (
	"encoding/json"
	"fmt"
)

// read is a view of the guest's memory, which the guest may change later on. A
// guest that names bytes that it does not have traps.
func (i *Instance) read(at, size uint64, what string) []byte {
	b, ok := i.memory.Read(uint32(at), uint32(size))
	if !ok {
		panic(fmt.Errorf("out of memory reading %s", what))
	}
	return b
}

// writeString returns how long s is; it is written only where that is within the
// limit.
func (i *Instance) writeString(s string, buf, limit uint64) uint64 {
	if len(s) > 0 && len(s) <= int(uint32(limit)) {
		i.memory.WriteString(uint32(buf), s)
	}
	return uint64(len(s))
}

// writeMessage is writeString for what is marshalled, straight into the memory.
func (i *Instance) writeMessage(m Message, buf, limit uint64) uint64 {
	if m == nil {
		return 0
	}
	size := m.Size()
	if size == 0 || size > int(uint32(limit)) {
		return uint64(size)
	}
	if _, err := m.MarshalToSizedBuffer(i.read(buf, uint64(size), "the buffer for an object")); err != nil {
		panic(err)
	}
	return uint64(size)
}

func (i *Instance) writeJSON(v any, buf, limit uint64) uint64 {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if len(b) <= int(uint32(limit)) {
		i.memory.Write(uint32(buf), b)
	}
	return uint64(len(b))
}

// terminated are strings that each end with a NUL. Empty ones are left out, and
// so is what no NUL ends.
func terminated(b []byte) (entries []string) {
	start := 0
	for end, c := range b {
		if c != 0 {
			continue
		}
		if end > start {
			entries = append(entries, string(b[start:end]))
		}
		start = end + 1
	}
	return entries
}

// reasons remembers the reasons of an instance, so that one that comes for every
// node of a cycle is made once.
type reasons struct {
	last  []string
	known map[string][]string
}

// maxReasons is how many are remembered: those that name a node never come again.
const maxReasons = 64

func (r *reasons) of(reason []byte) []string {
	if len(r.last) > 0 && r.last[0] == string(reason) {
		return r.last
	}
	known, ok := r.known[string(reason)]
	if !ok {
		known = []string{string(reason)}
		if len(r.known) >= maxReasons || r.known == nil {
			r.known = map[string][]string{}
		}
		r.known[known[0]] = known
	}
	r.last = known
	return known
}
