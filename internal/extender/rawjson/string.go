package rawjson

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// String passes the next value, which must be a string, and returns its
// content, decoded as encoding/json decodes it. Plain means that the content
// is its own encoding: ASCII without escapes. It then shares memory with the
// text.
func (c *Cursor) String() (content []byte, plain bool, err error) {
	if c.Kind() != '"' {
		return nil, false, c.fail("want a string")
	}
	end, plain := c.endOfString()
	start := c.pos
	if end < 0 {
		c.pos = ^end
		return nil, false, c.fail("this byte cannot stand in a string")
	}
	c.pos = end
	if plain {
		return c.data[start+1 : end-1 : end-1], true, nil
	}
	var s string
	if err := json.Unmarshal(c.data[start:end], &s); err != nil {
		return nil, false, &SyntaxError{Offset: start, Problem: err.Error()}
	}
	return []byte(s), false, nil
}

// PlainStrings passes strings that follow one another in an array without a
// space, as long as they are plain and there, and appends to offsets where each
// begins and ends. It stops before the comma or bracket after the last.
func (c *Cursor) PlainStrings(offsets []uint32) []uint32 {
	d, i := c.data, c.pos
	for i < len(d) && d[i] == '"' {
		end := skipPlain(d, i+1)
		if end < 0 {
			break
		}
		offsets = append(offsets, uint32(i+1), uint32(end-1))
		c.pos = end
		if end == len(d) || d[end] != ',' {
			break
		}
		i = end + 1
	}
	return offsets
}

// endOfString finds the end of the string at the Cursor, as skipString.
func (c *Cursor) endOfString() (end int, plain bool) {
	if end = skipPlain(c.data, c.pos+1); end >= 0 {
		return end, true
	}
	for {
		end = skipString(c.data, c.pos+1)
		if ^end != len(c.data) || !c.more() {
			return end, false
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, with the highest bit of the first of them, the bytes of w
// that end the plain run of a string: quotes, backslashes, control characters.
// Bytes above the first marked one may be marked wrongly.
func special(w uint64) uint64 {
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return ((w - ' '*ones) | (quote - ones) | (slash - ones)) & highs &^ w
}

// skipPlain is skipString for a string that is its own decoding. For any other
// it returns -1.
func skipPlain(d []byte, i int) int {
	for i+8 <= len(d) {
		w := binary.LittleEndian.Uint64(d[i : i+8])
		m := special(w)
		if m == 0 && w&highs == 0 {
			i += 8
			continue
		}
		if m == 0 || w&highs&(m&-m-1) != 0 {
			return -1
		}
		i += bits.TrailingZeros64(m) / 8
		break
	}
	for i < len(d) && ' ' <= d[i] && d[i] < 0x80 && d[i] != '"' && d[i] != '\\' {
		i++
	}
	if i < len(d) && d[i] == '"' {
		return i + 1
	}
	return -1
}

// skipString returns the offset after the closing quote of the string whose
// content starts at i, or the complement of the offset at which it goes wrong.
func skipString(d []byte, i int) int {
	for {
		for i+8 <= len(d) {
			m := special(binary.LittleEndian.Uint64(d[i : i+8]))
			if m == 0 {
				i += 8
				continue
			}
			if i += bits.TrailingZeros64(m) / 8; d[i] == '"' {
				return i + 1
			}
			break
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
