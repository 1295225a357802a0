package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"unicode"

	"sigs.k8s.io/yaml"
)

// smallYAML is how many bytes of YAML are always converted at once. That takes some forty
// times as much memory.
const smallYAML = 64 << 10

// toJSON makes JSON of a YAML document. No parser of YAML streams within a document, so a
// large one, as programs write it, is converted field by field, and its lists element by
// element. Where that does not work it is converted at once, if most.inOnePiece allows it.
func toJSON(text []byte, most bounds) ([]byte, error) {
	if len(text) > smallYAML {
		if out, err := byElement(text, most); !errors.Is(err, errAtOnce) {
			return out, err
		}
	}
	if len(text) > most.inOnePiece {
		return nil, tooLarge(inBytes(most.inOnePiece)+" of YAML in one piece", most.adviceOnPiece)
	}
	return yaml.YAMLToJSON(text)
}

// errAtOnce is about a document that is not a mapping in block style, or of which a part
// is not YAML by itself: it may refer to an anchor in another part.
var errAtOnce = errors.New("this can only be converted at once")

// byElement converts a mapping in block style. It returns errAtOnce where it is not certain
// that a parser sees the same parts.
func byElement(text []byte, most bounds) ([]byte, error) {
	// YAML knows more ends of lines than bytes.Lines.
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) || bytes.ContainsAny(text, "\u0085\u2028\u2029") {
		return nil, errAtOnce
	}
	var out []byte
	for _, field := range parts(text, func(l line) bool { return l.indent == 0 && l.content[0] != '-' }) {
		if !unicode.IsLetter(rune(field[0])) {
			return nil, errAtOnce
		}
		converted, err := fieldToJSON(field, most)
		if err != nil {
			return nil, err
		}
		out = append(append(out, ','), converted...)
	}
	if len(out) == 0 {
		return nil, errAtOnce
	}
	out[0] = '{'
	return append(out, '}'), nil
}

// fieldToJSON converts a field, if it is a list element by element.
func fieldToJSON(field []byte, most bounds) ([]byte, error) {
	end := bytes.IndexByte(field, '\n') + 1
	name, err := partToJSON(field[:end], '{', most)
	name, hasNoValue := bytes.CutSuffix(name, []byte(":null"))
	first := firstLine(field[end:])
	if err != nil || !hasNoValue || !first.isElement() {
		return partToJSON(field, '{', most)
	}
	elements := parts(field[end:], func(l line) bool { return l.indent <= first.indent })
	if len(elements) > most.elements/anObject {
		return nil, tooLarge(fmt.Sprint(most.elements, " elements in lists"), most.advice)
	}
	out := append(name, ':', '[')
	for i, element := range elements {
		if l := firstLine(element); !l.isElement() || l.indent != first.indent {
			return nil, errAtOnce
		}
		converted, err := partToJSON(element, '[', most)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, converted...)
	}
	return append(out, ']'), nil
}

// partToJSON converts a part, and drops the brackets around it.
func partToJSON(part []byte, bracket byte, most bounds) ([]byte, error) {
	if len(part) > most.inOnePiece {
		return nil, errAtOnce
	}
	all, err := yaml.YAMLToJSON(part)
	if err != nil || all[0] != bracket {
		return nil, errAtOnce
	}
	return all[1 : len(all)-1], nil
}

// line is a line without its indentation and its end. A comment has no content.
type line struct {
	indent  int
	content []byte
}

func lineOf(text []byte) line {
	content := bytes.TrimLeft(text, " ")
	indent := len(text) - len(content)
	if content = bytes.TrimRight(content, "\r\n"); bytes.HasPrefix(content, []byte("#")) {
		content = nil
	}
	return line{indent, content}
}

// isElement is true of a line that begins an element of a list.
func (l line) isElement() bool {
	return string(l.content) == "-" || bytes.HasPrefix(l.content, []byte("- "))
}

// firstLine is the first one with content.
func firstLine(text []byte) line {
	for one := range bytes.Lines(text) {
		if l := lineOf(one); len(l.content) > 0 {
			return l
		}
	}
	return line{}
}

// parts cuts a text before each line with content for which begins is true, and drops the
// comments before the first.
func parts(text []byte, begins func(line) bool) (all [][]byte) {
	start, at := -1, 0
	for one := range bytes.Lines(text) {
		if l := lineOf(one); len(l.content) > 0 && (start < 0 || begins(l)) {
			if start >= 0 {
				all = append(all, text[start:at])
			}
			start = at
		}
		at += len(one)
	}
	if start >= 0 {
		all = append(all, text[start:])
	}
	return all
}
