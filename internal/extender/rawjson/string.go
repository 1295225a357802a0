package rawjson

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// String passes the next value, which must be a string, and returns its
// content, decoded as encoding/json decodes it. Without an escape or a byte
// outside ASCII it shares memory with the text.
func (c *Cursor) String() ([]byte, error) {
	if c.Kind() != '"' {
		return nil, c.fail("want a string")
	}
	start := c.pos
	end := skipString(c.data, start+1)
	if end < 0 {
		c.pos = ^end
		return nil, c.fail("this byte cannot stand in a string")
	}
	c.pos = end
	content := c.data[start+1 : end-1 : end-1]
	if isPlain(content) {
		return content, nil
	}
	var s string
	if err := json.Unmarshal(c.data[start:end], &s); err != nil {
		return nil, &SyntaxError{Offset: start, Problem: err.Error()}
	}
	return []byte(s), nil
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, with the highest bit of the first of them, the bytes of w
// that end the plain run of a string: quotes, backslashes, control characters.
// Bytes above the first marked one may be marked wrongly.
func special(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
}

// isPlain reports whether the content of a string is its own decoding: ASCII
// without escapes.
func isPlain(content []byte) bool {
	for len(content) >= 8 {
		w := binary.LittleEndian.Uint64(content)
		if w&highs != 0 || special(w) != 0 {
			return false
		}
		content = content[8:]
	}
	for _, b := range content {
		if b >= 0x80 || b == '\\' {
			return false
		}
	}
	return true
}

// skipString returns the offset after the closing quote of the string whose
// content starts at i, or the complement of the offset at which it goes wrong.
func skipString(d []byte, i int) int {
	for {
		for i+8 <= len(d) {
			if m := special(binary.LittleEndian.Uint64(d[i : i+8])); m != 0 {
				if i += bits.TrailingZeros64(m) / 8; d[i] == '"' {
					return i + 1
				}
				break
			}
			i += 8
		}
		for i < len(d) && d[i] != '"' && d[i] != '\\' && d[i] >= ' ' {
			i++
		}
		if i == len(d) || d[i] < ' ' {
			return ^i
		}
		if d[i] == '"' {
			return i + 1
		}
		if i = skipEscape(d, i+1); i < 0 {
			return i
		}
	}
}

// skipEscape passes what follows a backslash.
func skipEscape(d []byte, i int) int {
	if i == len(d) {
		return ^i
	}
	switch d[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for end := i + 5; ; {
			if i++; i == end {
				return i
			}
			if i >= len(d) || !isHex(d[i]) {
				return ^i
			}
		}
	}
	return ^i
}

func isHex(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
}
