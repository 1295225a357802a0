package snapshot

import (
	"bytes"
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"
)

// pieceSize is about how much YAML is converted at once, in bytes. It takes some forty
// times its size meanwhile.
const pieceSize = 64 << 10

// toJSON makes JSON of a YAML document, in pieces where that can be done: long lists of
// objects at its top, as programs write them. No piece may have more than most bytes.
func toJSON(text []byte, most int) ([]byte, error) {
	if len(text) > pieceSize {
		if out, ok := inPieces(text, pieceSize, most); ok {
			return out, nil
		}
	}
	if len(text) > most {
		return nil, tooLarge("%d MB of YAML in one piece", most>>20)
	}
	return yaml.YAMLToJSON(text)
}

var (
	// aField begins a field of the document.
	aField = regexp.MustCompile(`^[A-Za-z]\w*:(?:\s|$)`)
	// aList begins a field that is a list, up to the first dash and its indentation.
	aList    = regexp.MustCompile(`^\w+:[ \t]*(?:#.*)?\r?\n(?: *(?:#.*)?\r?\n)*( *)-(?: |\r?\n|$)`)
	aComment = regexp.MustCompile(`^[ #\r\n]`)
	// strangeBreak is what YAML takes for the end of a line, and nobody else does.
	strangeBreak = regexp.MustCompile("[\u0085\u2028\u2029]")
)

// inPieces converts a mapping in block style. It gives up where it does not see where
// a piece ends, or where one is no YAML by itself.
func inPieces(text []byte, size, most int) (out []byte, ok bool) {
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) || strangeBreak.Match(text) {
		return nil, false
	}
	fields := cut(text, func(indent int, content []byte) bool { return indent == 0 && content[0] != '-' })
	if comments, err := yaml.YAMLToJSON(fields[0]); err == nil && string(comments) == "null" && aComment.Match(fields[0]) {
		fields = fields[1:]
	}
	for _, field := range fields {
		members, ok := fieldInPieces(field, size, most)
		if !ok {
			return nil, false
		}
		out = append(append(out, ','), members...)
	}
	if len(out) == 0 {
		return nil, false
	}
	out[0] = '{'
	return append(out, '}'), true
}

// fieldInPieces converts a field of the document, a list some elements at a time.
func fieldInPieces(field []byte, size, most int) (out []byte, ok bool) {
	begin := aList.FindSubmatchIndex(field)
	switch {
	case !aField.Match(field):
		return nil, false
	case begin == nil:
		return convert(field, '{', most)
	}
	name, list := field[:begin[2]], field[begin[2]:]
	if out, ok = convert(name, '{', most); !ok {
		return nil, false
	}
	out = append(bytes.TrimSuffix(out, []byte("null")), '[')
	indent := begin[3] - begin[2]
	element := regexp.MustCompile(fmt.Sprintf(`^ {%d}-(?:[ \r\n]|$)`, indent))
	elements := cut(list, func(by int, _ []byte) bool { return by <= indent })
	for len(elements) > 0 {
		piece := 0
		for piece == 0 || len(elements) > 0 && piece < size {
			if !element.Match(elements[0]) {
				return nil, false // the parser would take the piece to end here
			}
			piece += len(elements[0])
			elements = elements[1:]
		}
		some, ok := convert(list[:piece], '[', most)
		if !ok {
			return nil, false
		}
		out = append(append(out, some...), ',')
		list = list[piece:]
	}
	out[len(out)-1] = ']'
	return out, true
}

// cut cuts text before each line for which begins is true. That is not asked about
// empty lines and comments.
func cut(text []byte, begins func(indent int, content []byte) bool) (all [][]byte) {
	start, at := 0, 0
	for line := range bytes.Lines(text) {
		content := bytes.TrimLeft(line, " ")
		isEmpty := len(bytes.TrimRight(content, "\r\n")) == 0 || content[0] == '#'
		if at > start && !isEmpty && begins(len(line)-len(content), content) {
			all, start = append(all, text[start:at]), at
		}
		at += len(line)
	}
	return append(all, text[start:])
}

// convert converts a piece, and leaves the brackets around it out.
func convert(piece []byte, bracket byte, most int) ([]byte, bool) {
	if len(piece) > most {
		return nil, false
	}
	all, err := yaml.YAMLToJSON(piece)
	if err != nil || all[0] != bracket {
		return nil, false
	}
	return all[1 : len(all)-1], true
}
