package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
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

// placed is a value, and its place in the body.
type placed[T any] struct {
	is T
	at span // empty without one
}

// The decoded parts of an ExtenderArgs.
type (
	extenderArgs struct {
		Pod       *pod
		Nodes     *placed[nodeList]
		NodeNames names

		NodeNameToVictims, NodeNameToMetaVictims map[string]victims
	}
	pod struct {
		Metadata struct {
			Namespace   string            `json:"namespace"`
			Name        string            `json:"name"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	names struct {
		list     []string // nil without one
		arePlain bool     // in JSON they are as here, between quotes
	}
	nodeList struct {
		Items placed[[]node] `json:"items"`
	}
	node = placed[struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}]
	// victims is Victims or MetaVictims.
	victims struct {
		Pods             []victim
		NumPDBViolations int64
	}
	// victim is a Pod or a MetaPod.
	victim struct {
		UID      string
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
)

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *placed[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	start := int(in.InputOffset()) + len(in.UnreadBuffer()) - len(unread(in))
	*p = placed[T]{}
	err := json.UnmarshalDecode(in, &p.is)
	p.at = span{start, int(in.InputOffset())}
	return err
}

// unread returns the body from the next value on.
func unread(in *jsontext.Decoder) []byte { return bytes.TrimLeft(in.UnreadBuffer(), " \t\r\n,:") }

// decode decodes these parts. The decoder skips the rest token by token.
func decode(body []byte, take func(bytes int64) error) (*extenderArgs, error) {
	ofString := json.UnmarshalFromFunc(func(in *jsontext.Decoder, s *string) error { return readString(in, s, take) })
	ofNames := json.UnmarshalFromFunc(func(in *jsontext.Decoder, n *names) error { return readNames(in, n, take) })
	args := &extenderArgs{}
	err := json.Unmarshal(body, args,
		json.MatchCaseInsensitiveNames(true), jsonv1.MatchCaseSensitiveDelimiter(true),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(ofString, ofNames, counted[node](take), counted[victim](take), counted[victims](take))))
	if err != nil {
		return nil, located(err)
	}
	return args, nil
}

// counted takes the memory of each T before the decoder reads it.
func counted[T any](take func(bytes int64) error) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(*jsontext.Decoder, *T) error { return cmp.Or(take(perNode), errors.ErrUnsupported) })
}

// readNames decodes NodeNames. Plain names share one copy. All other names are read by the
// decoder itself, which takes four times as long.
func readNames(in *jsontext.Decoder, into *names, take func(bytes int64) error) error {
	array := unread(in)
	array = array[:bytes.IndexByte(array, ']')+1]
	*into = names{}
	quotes := bytes.Count(array, []byte{'"'}) // an odd number: the bracket is in a name
	if in.PeekKind() != '[' || len(array) == 0 || quotes%2 == 1 || !isPlain(array) {
		return json.UnmarshalDecode(in, &into.list)
	}
	if err := take(perNode*int64(quotes/2) + perByte*int64(len(array)-quotes)); err != nil {
		return err
	}
	list := make([]string, 0, quotes/2)
	isName := false
	for part := range strings.SplitSeq(string(array[1:len(array)-1]), `"`) {
		switch {
		case isName:
			list = append(list, part)
		case strings.Trim(part, " \t\r\n,") != "": // there are other values than strings
			return json.UnmarshalDecode(in, &into.list)
		}
		isName = !isName
	}
	*into = names{list, true}
	return in.SkipValue()
}

// readString decodes a string, or null as the empty one, and takes its memory before.
func readString(in *jsontext.Decoder, into *string, take func(bytes int64) error) error {
	kind := in.PeekKind()
	if kind != '"' && kind != 'n' && kind != 0 {
		return errors.New("want a string")
	}
	text, err := in.ReadValue()
	if err != nil {
		return err
	}
	size := perByte
	if !isPlain(text) {
		size += perByteDecoded
	}
	if err := take(int64(perNode + size*len(text))); err != nil {
		return err
	}
	decoded, _ := jsontext.AppendUnquote(nil, text) // invalid UTF-8 is replaced, null is nothing
	*into = string(decoded)
	return nil
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
