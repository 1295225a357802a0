package wasmhost

import (
	"strings"
	"testing"
)

func TestTheDigestOfAGuest(t *testing.T) {
	const is, other = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "00" // of foo
	for _, want := range []string{"", is, strings.ToUpper(is)} {
		if err := newFetched([]byte("foo")).check(Args{GuestSHA256: want}); err != nil {
			t.Errorf("%q: %v", want, err)
		}
	}
	err := newFetched([]byte("foo")).check(Args{GuestSHA256: strings.Repeat(other, 32)})
	if want := "its SHA-256 is " + is + ", but guestSHA256 asks for " + strings.Repeat(other, 32); message(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
