package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// What a request takes besides its body, in bytes, estimated high: for a node in the request,
// an algorithm and the answer, or for any other string; for a byte of a string and its
// copies; and for a byte of a string that must be decoded and encoded again.
const (
	perNode        = 128
	perByte        = 4
	perByteDecoded = 12
)

// member is the value of a member, and its place in the body. It rejects a second member of
// the same name, in any case.
type member[T any] struct {
	is T
	at span // empty without one
}

// The decoded parts of an ExtenderArgs.
type (
	extenderArgs struct {
		Pod       member[*pod]
		Nodes     member[*nodeList]
		NodeNames member[names]

		NodeNameToVictims, NodeNameToMetaVictims member[map[string]victims]
	}
	pod struct {
		Metadata member[metadata] `json:"metadata"`
	}
	metadata struct {
		Namespace   member[string]            `json:"namespace"`
		Name        member[string]            `json:"name"`
		Annotations member[map[string]string] `json:"annotations"`
	}
	names struct {
		list     []string // nil without one
		arePlain bool     // in JSON they are as here, between quotes
	}
	nodeList struct {
		Items member[[]node] `json:"items"`
	}
	// victims is Victims or MetaVictims.
	victims struct {
		Pods             member[[]victim]
		NumPDBViolations member[int64]
	}
)

var (
	errTwice    = errors.New("is given twice")
	errNoString = errors.New("want a string")
)

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *member[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if m.at != (span{}) {
		return errTwice
	}
	left := in.UnreadBuffer()
	start := int(in.InputOffset()) + len(left) - len(bytes.TrimLeft(left, " \t\r\n,:"))
	err := json.UnmarshalDecode(in, &m.is)
	m.at = span{start, int(in.InputOffset())}
	return err
}

// decode decodes these parts. The decoder skips the rest token by token.
func decode(body []byte, take func(bytes int64) error) (*extenderArgs, error) {
	var refused error // of take
	account := func(bytes int64) error {
		refused = take(bytes)
		return refused
	}
	ofString := json.UnmarshalFromFunc(func(in *jsontext.Decoder, s *string) error { return readString(in, s, account) })
	ofNode := json.UnmarshalFromFunc(func(in *jsontext.Decoder, n *node) error { return readNode(in, n, account) })
	ofNames := json.UnmarshalFromFunc(func(in *jsontext.Decoder, n *names) error { return readNames(in, n, account) })
	ofVictim := json.UnmarshalFromFunc(func(in *jsontext.Decoder, v *victim) error { return readVictim(in, v, account) })
	ofNodesVictims := json.UnmarshalFromFunc(func(*jsontext.Decoder, *victims) error { return cmp.Or(account(perNode), errors.ErrUnsupported) })
	ofStrings := json.UnmarshalFromFunc(func(in *jsontext.Decoder, m *map[string]string) error { return readMap(in, m, account) })
	ofVictims := json.UnmarshalFromFunc(func(in *jsontext.Decoder, m *map[string]victims) error { return readMap(in, m, account) })
	args := &extenderArgs{}
	err := json.Unmarshal(body, args,
		json.MatchCaseInsensitiveNames(true), jsonv1.MatchCaseSensitiveDelimiter(true),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(ofString, ofNames, ofNode, ofVictim, ofNodesVictims, ofStrings, ofVictims)))
	if refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, located(err)
	}
	return args, nil
}

// readNames decodes NodeNames, and takes their memory before. The decoder's own way takes four
// times as long.
func readNames(in *jsontext.Decoder, into *names, take func(bytes int64) error) error {
	kind := in.PeekKind()
	if kind != '[' && kind != 'n' && kind != 0 {
		return errors.New("want an array")
	}
	array, err := in.ReadValue()
	if err != nil || array.Kind() == 'n' {
		return err
	}
	into.arePlain = isPlain(array)
	quotes := 0
	if into.arePlain {
		quotes = bytes.Count(array, []byte{'"'})
		if err := take(perNode*int64(quotes/2) + perByte*int64(len(array)-quotes)); err != nil {
			return err
		}
	}
	into.list = make([]string, 0, quotes/2)
	bad, err := into.add(array, take)
	if errors.Is(err, errNoString) {
		at, i := in.InputOffset()-int64(len(array)-bad), strconv.Itoa(len(into.list))
		return &json.SemanticError{ByteOffset: at, JSONPointer: in.StackPointer().AppendToken(i), Err: err}
	}
	return err
}

// add adds the names of an array, which is valid JSON. With an error it returns where the element
// begins that has it. Plain names are parts of one copy, whose memory is taken.
func (n *names) add(array jsontext.Value, take func(bytes int64) error) (at int, err error) {
	copied := ""
	if n.arePlain {
		copied = string(array)
	}
	for at = 1; array[at] != ']' && err == nil; {
		name, end := "", at+1
		switch array[at] {
		case ' ', '\t', '\r', '\n', ',':
			at++
			continue
		case '"':
			end += endOfString(array[at:], 0)
			if n.arePlain {
				name = copied[at+1 : end-1]
			} else {
				name, err = decodeString(array[at:end], take)
			}
		case 'n':
			end = at + len("null")
			err = take(perNode)
		default:
			return at, errNoString
		}
		n.list = append(n.list, name)
		at = end
	}
	return at, err
}

// readNode decodes a full node, and takes its memory before. Null is a node without a name.
func readNode(in *jsontext.Decoder, into *node, take func(bytes int64) error) error {
	if err := take(perNode); err != nil {
		return err
	}
	var object member[struct {
		Metadata member[struct {
			Name member[string] `json:"name"`
		}] `json:"metadata"`
	}]
	err := object.UnmarshalJSONFrom(in)
	*into = node{object.at, object.is.Metadata.is.Name.is}
	return err
}

// readVictim decodes the UID of a Pod or of a MetaPod, and takes its memory before.
func readVictim(in *jsontext.Decoder, into *victim, take func(bytes int64) error) error {
	if err := take(perNode); err != nil {
		return err
	}
	var object struct {
		UID      member[string]
		Metadata member[struct {
			UID member[string] `json:"uid"`
		}] `json:"metadata"`
	}
	err := json.UnmarshalDecode(in, &object)
	*into = victim{cmp.Or(object.UID.is, object.Metadata.is.UID.is)}
	return err
}

// readMap decodes annotations, or victims by node. The decoder's own way takes twice as long,
// and keeps the last value of a repeated name.
func readMap[T any](in *jsontext.Decoder, into *map[string]T, take func(bytes int64) error) error {
	token, err := in.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return err
	}
	if token.Kind() != '{' {
		return errors.New("want an object")
	}
	*into = make(map[string]T)
	for in.PeekKind() != '}' {
		var name string
		var value T
		if err := readString(in, &name, take); err != nil {
			return err
		}
		if _, ok := (*into)[name]; ok {
			return errTwice
		}
		if err := json.UnmarshalDecode(in, &value); err != nil {
			return err
		}
		(*into)[name] = value
	}
	_, err = in.ReadToken()
	return err
}

// readString decodes a string, or null as the empty one, and takes its memory before.
func readString(in *jsontext.Decoder, into *string, take func(bytes int64) error) error {
	kind := in.PeekKind()
	if kind != '"' && kind != 'n' && kind != 0 {
		return errNoString
	}
	text, err := in.ReadValue()
	if err != nil {
		return err
	}
	if text.Kind() == 'n' {
		return take(perNode)
	}
	*into, err = decodeString(text, take)
	return err
}

func decodeString(text jsontext.Value, take func(bytes int64) error) (string, error) {
	inside := text[1 : len(text)-1]
	if isPlain(inside) {
		if err := take(perNode + perByte*int64(len(inside))); err != nil {
			return "", err
		}
		return string(inside), nil
	}
	if err := take(perNode + (perByte+perByteDecoded)*int64(len(text))); err != nil {
		return "", err
	}
	decoded, _ := jsontext.AppendUnquote(nil, text) // invalid UTF-8 is replaced
	return string(decoded), nil
}

// isPlain reports whether what stands between quotes is the string itself.
func isPlain(s []byte) bool { return bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) }

// located puts the place in the body before an error.
func located(err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		return fmt.Errorf("%sbyte %d: %w", place(syntactic.JSONPointer), syntactic.ByteOffset, syntactic.Err)
	case errors.As(err, &semantic):
		if semantic.Err == nil {
			semantic.Err = errors.New("want " + kinds[semantic.GoType.Kind()])
		}
		return fmt.Errorf("%sbyte %d: %w", place(semantic.JSONPointer), semantic.ByteOffset, semantic.Err)
	}
	return err
}

var kinds = map[reflect.Kind]string{reflect.Struct: "an object", reflect.Slice: "an array"}

// place is a path for messages, such as Nodes.items.0.metadata.name, of a bounded length.
func place(p jsontext.Pointer) string {
	if p == "" {
		return ""
	}
	path := strings.Join(slices.Collect(p.Tokens()), ".")
	const most = 400
	if len(path) > most {
		path = path[:most] + "…"
	}
	return path + ": "
}
