package rawjson

// Skip passes the next value and checks that it is JSON. It does not recurse,
// so its stack does not grow with the text.
func (c *Cursor) Skip() error {
	c.Kind()
	for {
		end, in := skip(c.data, c.pos, MaxDepth-c.depth)
		if end == len(c.data) || ^end == len(c.data) {
			// The value may go on, and even a number that looks whole.
			if c.more() {
				continue
			}
		}
		if end < 0 {
			return c.stop(^end, &in)
		}
		c.pos = end
		return nil
	}
}

// skip returns the offset after the value at i, or the complement of the offset
// at which it goes wrong and the containers there. Most of a text is strings
// with nothing around them but a comma or a colon, so those come first.
func skip(d []byte, i, room int) (int, nesting) {
	in := nesting{room: room}
	for {
		opened := false
		if i < len(d) && d[i] == '"' {
			i = skipString(d, i+1)
		} else {
			i, opened = skipOne(d, i, &in)
		}
		if i >= 0 && !opened {
			if in.depth > 0 && i < len(d) && d[i] == ',' {
				i++
			} else if i = skipEnds(d, i, &in); in.depth == 0 {
				return i, in
			}
		}
		if i < 0 {
			return i, in
		}
		if in.object() {
			i = skipKey(d, i)
		} else {
			i = skipSpace(d, i)
		}
		if i < 0 {
			return i, in
		}
	}
}

// skipEnds passes what follows a value: the ends of containers, up to the end
// of the outermost or the comma before the next element or member.
func skipEnds(d []byte, i int, in *nesting) int {
	for in.depth > 0 {
		if i = skipSpace(d, i); i == len(d) {
			return ^i
		}
		if d[i] == ',' {
			return i + 1
		}
		if d[i] != in.closing() {
			return ^i
		}
		in.pop()
		i++
	}
	return i
}

func (c *Cursor) stop(at int, in *nesting) error {
	if in.depth > in.room {
		return failAt(c.data, at, "the text nests too deeply")
	}
	return failAt(c.data, at, "this byte cannot stand here in JSON")
}

// skipOne passes a scalar or an empty container whole, or else enters a
// container up to its first element or member, which opened reports. A negative
// offset is the complement of the place of the mistake.
func skipOne(d []byte, i int, in *nesting) (next int, opened bool) {
	if i >= len(d) {
		return ^i, false
	}
	switch d[i] {
	case '"':
		return skipString(d, i+1), false
	case '{', '[':
		if !in.push(d[i] == '{') {
			return ^i, false
		}
		if i = skipSpace(d, i+1); i < len(d) && d[i] == in.closing() {
			in.pop()
			return i + 1, false
		}
		return i, true
	case 't', 'f', 'n':
		return skipLiteral(d, i), false
	default:
		return skipNumber(d, i), false
	}
}

// skipKey passes a member's name and colon, and white space around them.
func skipKey(d []byte, i int) int {
	if i = skipSpace(d, i); i == len(d) || d[i] != '"' {
		return ^i
	}
	if i = skipString(d, i+1); i < 0 {
		return i
	}
	if i = skipSpace(d, i); i == len(d) || d[i] != ':' {
		return ^i
	}
	return skipSpace(d, i+1)
}

func skipSpace(d []byte, i int) int {
	for i < len(d) && d[i] <= ' ' && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r') {
		i++
	}
	return i
}

func skipLiteral(d []byte, i int) int {
	want := "null"
	switch d[i] {
	case 't':
		want = "true"
	case 'f':
		want = "false"
	}
	for j := range len(want) {
		if i+j == len(d) || d[i+j] != want[j] {
			return ^(i + j)
		}
	}
	return i + len(want)
}

func skipNumber(d []byte, i int) int {
	if d[i] == '-' {
		i++
	}
	if i < len(d) && d[i] == '0' {
		i++
	} else if i = skipDigits(d, i); i < 0 {
		return i
	}
	if i < len(d) && d[i] == '.' {
		if i = skipDigits(d, i+1); i < 0 {
			return i
		}
	}
	if i < len(d) && d[i]|0x20 == 'e' {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		return skipDigits(d, i)
	}
	return i
}

// skipDigits passes digits, of which there must be one.
func skipDigits(d []byte, i int) int {
	start := i
	for i < len(d) && '0' <= d[i] && d[i] <= '9' {
		i++
	}
	if i == start {
		return ^i
	}
	return i
}
