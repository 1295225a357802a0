package wire

import (
	"bytes"
	"fmt"
)

// The decoder keeps the names of all members on the way to its place in the body, and its
// errors carry them. So these are bounded. Names in Kubernetes' objects have some hundreds
// of bytes, on some ten levels.
const (
	longestName = 4096 // bytes in the JSON, quotation marks included
	deepest     = 100
)

// Why a body may be rejected although it is JSON: no kube-scheduler sends such.
var (
	ErrLongName = fmt.Errorf("the name of a member takes more than %d bytes", longestName)
	ErrTooDeep  = fmt.Errorf("there are more than %d levels of lists and objects", deepest)
)

// checkBounds checks names and depth before a body is decoded.
func checkBounds(body []byte) error {
	var isObject [deepest + 1]bool // by level
	level, isName := 0, false      // isName: the next string is the name of a member
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			level++
			if level > deepest {
				return fmt.Errorf("byte %d: %w", i, ErrTooDeep)
			}
			isName = body[i] == '{'
			isObject[level] = isName
		case '}', ']':
			level = max(level-1, 0)
		case ',':
			isName = isObject[level]
		case ':':
			isName = false
		case '"':
			start := i
			i = endOfString(body, start)
			if isName && i-start >= longestName {
				return fmt.Errorf("byte %d: %w", start, ErrLongName)
			}
		}
	}
	return nil
}

// endOfString is the index of the quotation mark that ends the string which begins at
// start, or the body's length.
func endOfString(body []byte, start int) int {
	for i := start + 1; ; i++ {
		next := bytes.IndexByte(body[i:], '"')
		if next < 0 {
			return len(body)
		}
		i += next
		escapes := 0
		for body[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}
