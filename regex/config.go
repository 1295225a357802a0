package regex

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseConfig reads the configuration of a plugin, such as a guest's guestConfig. It is
// a JSON object with the optional fields "annotation", "excludeAnnotation" and
// "preferAnnotation", the keys of the annotations with the patterns. Empty data is
// [Default]. An unknown or repeated field is an error, and so is a key that Kubernetes
// refuses.
func ParseConfig(data []byte) (Policy, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Default, nil
	}
	policy := Default
	tokens := jsontext.NewDecoder(bytes.NewReader(data))
	token, err := tokens.ReadToken()
	if err != nil || token.Kind() != '{' {
		return Policy{}, notAnObject(err)
	}
	for tokens.PeekKind() != '}' {
		if err := policy.parseField(tokens); err != nil {
			return Policy{}, err
		}
	}
	_, _ = tokens.ReadToken() // the brace that was peeked
	_, err = tokens.ReadToken()
	if err != io.EOF {
		return Policy{}, errors.New("unexpected text after the JSON object")
	}
	return policy, policy.Validate()
}

// parseField reads one field and its value.
func (p *Policy) parseField(tokens *jsontext.Decoder) error {
	field, err := tokens.ReadToken()
	if err != nil {
		return notAnObject(err)
	}
	name := field.String()
	key := p.ofField(name)
	if key == nil {
		return errors.New("unknown field " + quote(shorten(name)) + "; the fields are " + fieldNames())
	}
	value, err := tokens.ReadToken()
	if err != nil {
		return notAnObject(err)
	}
	if value.Kind() != '"' {
		return errors.New("field " + quote(name) + " must be a string, not " + value.Kind().String())
	}
	*key = value.String()
	return nil
}

// ofField returns the key that a field of the configuration is, or nil.
func (p *Policy) ofField(name string) *string {
	for r := range Roles {
		if r.Field() == name {
			return p.key(r)
		}
	}
	return nil
}

// fieldNames lists the fields: "a", "b" and "c".
func fieldNames() string {
	names := ""
	for r := range Roles {
		switch r {
		case 0:
		case Roles - 1:
			names += " and "
		default:
			names += ", "
		}
		names += quote(r.Field())
	}
	return names
}

// Validate refuses a key that Kubernetes would refuse, and one key for two patterns.
func (p Policy) Validate() error {
	for r, key := range p.Keys() {
		problem := checkKey(key)
		if problem != "" {
			return errors.New("annotation key " + quote(shorten(key)) + " " + problem)
		}
		for other := range Role(r) {
			if p.Key(other) == key {
				return errors.New("annotation key " + quote(key) + " cannot be both of " + other.Nodes() + " and of " + Role(r).Nodes())
			}
		}
	}
	return nil
}

func notAnObject(cause error) error {
	const example = `want a JSON object such as {"annotation": "example.com/node-regex"}`
	if cause == nil || cause == io.EOF {
		return errors.New(example)
	}
	return errors.New(example + ": " + cause.Error())
}

// checkKey says why key cannot be the key of an annotation, or returns "". The rules are
// those of IsQualifiedName in k8s.io/apimachinery/pkg/util/validation.
func checkKey(key string) string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		prefix, name = "", key
	}
	switch {
	case prefixed && !isSubdomain(prefix):
		return `must have a DNS subdomain before its "/"`
	case len(name) > 63 || !isLabel(name, "-_."):
		return "must have a name of 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"
	}
	return ""
}

// isSubdomain reports whether s is labels joined by dots. Kubernetes lowers the
// case of a key before it looks.
func isSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label, "-") {
			return false
		}
	}
	return len(s) <= 253
}

// isLabel reports whether s is letters, digits and, except at its ends, some
// punctuation.
func isLabel(s, punctuation string) bool {
	for i := range len(s) {
		inside := i > 0 && i < len(s)-1
		if !isAlphanumeric(s[i]) && !(inside && strings.IndexByte(punctuation, s[i]) >= 0) {
			return false
		}
	}
	return s != ""
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
