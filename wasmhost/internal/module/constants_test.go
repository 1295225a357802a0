package module

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

func TestConstants(t *testing.T) {
	for _, tt := range []struct {
		name string
		body []byte
		want uint64
		ok   bool
	}{
		{"nothing", []byte{0, opEnd}, 0, true},
		{"a nop", []byte{0, opNop, opEnd}, 0, true},
		{"i32.const 5", []byte{0, opI32Const, 5, opEnd}, 5, true},
		{"i32.const -1", []byte{0, opI32Const, 0x7f, opEnd}, 0xffffffff, true},
		{"i64.const 1<<32", []byte{0, opI64Const, 0x80, 0x80, 0x80, 0x80, 0x10, opEnd}, 1 << 32, true},
		{"i64.const -1", []byte{0, opI64Const, 0x7f, opEnd}, 1<<64 - 1, true},
		{"return", []byte{0, opI32Const, 5, opReturn, opEnd}, 5, true},
		{"unreachable", []byte{0, opUnreachable, opEnd}, 0, false},
		{"a local", body(1, op(opLocalGet, 0)), 0, false},
		{"a call", []byte{0, opCall, severity, opEnd}, 0, false},
	} {
		prepared, err := Prepare(guest{filter: tt.body}.wasm(), true)
		testkit.Must(t, err)
		got, ok := prepared.Constants["filter"]
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %d %v", tt.name, got, ok)
		}
	}
}
