package extender

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// errEmpty rejects a file without a field: in most cases it was emptied by accident, or is
// being written.
var errEmpty = errors.New("the file has no field: write {} for the defaults; --print-config shows every field")

// decode rejects unknown and repeated fields, and a text without any. It returns all
// mistakes with their lines.
func (c *Config) decode(data []byte) error {
	text := yamlcheck.Parse(data)
	all, err := yamlcheck.Documents(data)
	_, root := text.Find("")
	switch {
	case len(all) > 1:
		return fmt.Errorf("there are %d documents in it, and only one is read: put everything into one, without a line \"---\" between", len(all))
	case err != nil:
		return err
	case root == nil || isNull(root):
		return errEmpty
	}
	problems := slices.Concat(text.Keys(), unread(root, ""), text.Check(c))
	slices.SortStableFunc(problems, func(a, b yamlcheck.Problem) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("line %d: %s: %s", p.Line, p.Field, p.Message))
	}
	return errors.Join(errs...)
}

// unread finds what the decoder ignores in a value: custom tags, and nulls.
func unread(n *goyaml.Node, path string) (all yamlcheck.Problems) {
	switch {
	case n.Style&goyaml.TaggedStyle != 0 && !strings.HasPrefix(n.ShortTag(), "!!"):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has the tag " + n.Tag + ", which is not supported: remove the tag"})
	case isNull(n):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has no value: set one, or remove the field"})
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == goyaml.SequenceNode:
			all = append(all, unread(child, fmt.Sprintf("%s[%d]", path, i))...)
		case i%2 == 1:
			all = append(all, unread(child, strings.TrimPrefix(path+"."+n.Content[i-1].Value, "."))...)
		}
	}
	return all
}

func isNull(n *goyaml.Node) bool { return n.Kind == goyaml.ScalarNode && n.Tag == "!!null" }
