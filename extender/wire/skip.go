package wire

import (
	"bytes"
	"fmt"
)

// Bounds of what the decoder keeps while it reads: the names on the way to where it
// is, all of which its errors carry. In Kubernetes' objects names have some
// hundreds of bytes, in some ten levels.
const (
	longestName = 4096 // bytes in the JSON, quotation marks included
	deepest     = 100
)

// Why a body is refused though it may be JSON: no kube-scheduler sends such.
var (
	ErrLongName = fmt.Errorf("the name of a member takes more than %d bytes", longestName)
	ErrTooDeep  = fmt.Errorf("there are more than %d levels of lists and objects", deepest)
)

// skip passes a value that nobody looks at, token by token: read as one it would
// recurse, and nobody would see the names in it.
func (r *reader) skip() error {
	outside := r.json.StackDepth()
	for {
		before := r.passed()
		if _, err := r.json.ReadToken(); err != nil {
			return r.syntax(err)
		}
		depth := r.json.StackDepth()
		if depth > deepest {
			return fmt.Errorf("byte %d: %w", before, ErrTooDeep)
		}
		if r.passed()-before > longestName && r.isLongName(before) {
			return fmt.Errorf("byte %d: %w", before, ErrLongName)
		}
		if depth <= outside {
			return nil
		}
	}
}

// isLongName looks at the token that begins at an offset, or after blanks there.
func (r *reader) isLongName(from int) bool {
	token := bytes.TrimLeft(r.request.body[from:r.passed()], " \t\r\n,")
	in, length := r.json.StackIndex(r.json.StackDepth())
	return in == '{' && length%2 == 1 && len(token) > longestName
}
