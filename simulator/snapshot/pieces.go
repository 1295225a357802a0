package snapshot

import (
	"bytes"
	"regexp"

	"sigs.k8s.io/yaml"
)

// pieceSize is about how much YAML is converted at once. It takes some forty times its
// size meanwhile.
const pieceSize = 64 << 10

// toJSON makes JSON of a YAML document, in pieces where that can be done: long lists of
// objects at its top, as programs write them. No piece may have more than most bytes.
func toJSON(text []byte, most int) ([]byte, error) {
	if len(text) > pieceSize {
		p := &pieces{most: most, size: pieceSize, out: []byte{'{'}}
		if out, ok := p.convert(text); ok {
			return out, nil
		}
	}
	if len(text) > most {
		return nil, tooLarge("%d MB of YAML in one piece", most>>20)
	}
	return yaml.YAMLToJSON(text)
}

// pieces makes JSON of a document that is a mapping in block style. It gives up where
// it does not see where a piece ends, or one is no YAML by itself.
type pieces struct {
	most, size int
	out        []byte
	piece      []byte // of the field, what is not yet converted
	isField    bool
	fresh      bool // of the field there is nothing yet but its name
	isList     bool
	indent     int // of the list's dashes
}

// aField is a line with which a field of the document begins, and what follows the colon.
var aField = regexp.MustCompile(`^[A-Za-z]\w*:(\s.*)?$`)

// strangeBreak is what YAML takes for the end of a line, and nobody else does.
var strangeBreak = regexp.MustCompile("[\u0085\u2028\u2029]")

func (p *pieces) convert(text []byte) (out []byte, ok bool) {
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) || strangeBreak.Match(text) {
		return nil, false
	}
	for line := range bytes.Lines(text) {
		if !p.add(line) {
			return nil, false
		}
	}
	if !p.endField() {
		return nil, false
	}
	return append(p.out, '}'), true
}

func (p *pieces) add(line []byte) bool {
	content := bytes.TrimLeft(line, " ")
	text := bytes.TrimRight(content, " \r\n")
	indent, isDash := len(line)-len(content), bytes.HasPrefix(content, []byte("- ")) || string(text) == "-"
	switch {
	case len(text) == 0 || text[0] == '#':
	case indent == 0 && !isDash:
		begins := aField.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if begins == nil || !p.endField() {
			return false
		}
		after := bytes.TrimSpace(begins[1])
		p.isField, p.fresh = true, len(after) == 0 || after[0] == '#'
	case !p.isField:
		return false
	case p.fresh && isDash:
		if !p.beginList(indent) {
			return false
		}
	case p.isList && isDash && indent == p.indent:
		if len(p.piece) >= p.size && !p.write('[') {
			return false
		}
	case p.isList && indent <= p.indent:
		return false // the parser would take the piece to end here
	default:
		p.fresh = false
	}
	p.piece = append(p.piece, line...)
	return true
}

// beginList writes the name of the field.
func (p *pieces) beginList(indent int) bool {
	ok := p.write('{')
	p.out = append(bytes.TrimSuffix(p.out, []byte("null")), '[')
	p.fresh, p.isList, p.indent = false, true, indent
	return ok
}

// endField writes what is left of a field, if one was begun.
func (p *pieces) endField() bool {
	switch {
	case p.isList:
		if !p.write('[') {
			return false
		}
		p.out = append(p.out, ']')
	case p.isField:
		if !p.write('{') {
			return false
		}
	}
	p.isField, p.isList, p.piece = false, false, p.piece[:0]
	return true
}

// write converts a piece, which is done with then: elements of a list, or a field with
// its value. Without its brackets it is a part of a larger one.
func (p *pieces) write(bracket byte) bool {
	if len(p.piece) > p.most {
		return false
	}
	all, err := yaml.YAMLToJSON(p.piece)
	p.piece = p.piece[:0]
	if err != nil || all[0] != bracket {
		return false
	}
	if p.out[len(p.out)-1] != bracket {
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, all[1:len(all)-1]...)
	return true
}
