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
// objects at its top, as programs write them. No piece may have more than most.inOnePiece
// bytes.
func toJSON(text []byte, most bounds) ([]byte, error) {
	if len(text) > pieceSize {
		if out, ok := inPieces(text, pieceSize, most.inOnePiece); ok {
			return out, nil
		}
	}
	if len(text) > most.inOnePiece {
		return nil, tooLarge(inBytes(most.inOnePiece)+" of YAML in one piece", most.adviceOnPiece)
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
	p := &pieces{most: most}
	for _, field := range fields {
		out = append(append(out, ','), p.field(field, size)...)
	}
	if len(out) == 0 || p.failed {
		return nil, false
	}
	out[0] = '{'
	return append(out, '}'), true
}

// pieces converts pieces of at most so many bytes, until one fails.
type pieces struct {
	most   int
	failed bool
}

// field converts a field of the document, a list some elements at a time.
func (p *pieces) field(field []byte, size int) []byte {
	begin := aList.FindSubmatchIndex(field)
	p.failed = p.failed || !aField.Match(field)
	if begin == nil || p.failed {
		return p.convert(field, '{')
	}
	list, indent := field[begin[2]:], begin[3]-begin[2]
	element := regexp.MustCompile(fmt.Sprintf(`^ {%d}-(?:[ \r\n]|$)`, indent))
	elements := cut(list, func(by int, _ []byte) bool { return by <= indent })
	out := append(bytes.TrimSuffix(p.convert(field[:begin[2]], '{'), []byte("null")), '[')
	for len(elements) > 0 && !p.failed {
		piece := 0
		for piece == 0 || len(elements) > 0 && piece < size {
			p.failed = p.failed || !element.Match(elements[0]) // the parser would take the piece to end here
			piece += len(elements[0])
			elements = elements[1:]
		}
		out = append(append(out, p.convert(list[:piece], '[')...), ',')
		list = list[piece:]
	}
	out[len(out)-1] = ']'
	return out
}

// convert converts a piece, and leaves the brackets around it out.
func (p *pieces) convert(piece []byte, bracket byte) []byte {
	if p.failed = p.failed || len(piece) > p.most; p.failed {
		return nil
	}
	all, err := yaml.YAMLToJSON(piece)
	if p.failed = err != nil || all[0] != bracket; p.failed {
		return nil
	}
	return all[1 : len(all)-1]
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
