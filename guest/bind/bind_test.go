package bind_test

import (
	"testing"

	_ "wasmkwokwizardry.io/regex-scheduling/guest/bind"
	"wasmkwokwizardry.io/regex-scheduling/guest/guesttest"
)

func TestHookThatWasNotSetSaysSo(t *testing.T) {
	defer func() {
		said := recover()
		if said != "bind.Set was not called" {
			t.Errorf("said %v", said)
		}
	}()
	guesttest.Call(t, "bind", guesttest.Input{})
}
