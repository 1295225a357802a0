package wasmhost

import (
	"errors"
	"testing"
)

func TestFoldedErrorKeepsItsCause(t *testing.T) {
	cause := errors.New("one\ntwo")
	err := error(lineError{cause})
	if !errors.Is(err, cause) || err.Error() != "one; two" {
		t.Errorf("got %v", err)
	}
}
