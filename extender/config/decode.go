package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"wasmkwokwizardry.io/regex-scheduling/extender/algorithm/builtin"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// errEmpty rejects a file without a field: more often it was emptied by accident, or
// is being written, than it asks for the defaults.
var errEmpty = errors.New("the file is empty but for comments and blanks: write {} for the defaults; --print-config shows every field")

// decode rejects unknown and repeated fields, and a text without any.
func (c *Config) decode(data []byte) error {
	text, err := checkForm(data)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(data, c); err != nil {
		return err
	}
	return c.checkAlgorithms(text)
}

// checkForm says what in a text does not fit a Config, each mistake with its
// line. The decoder reports only the first one, in Go's words, and ignores
// tags, missing values and a second document.
func checkForm(data []byte) (yamlcheck.Text, error) {
	text := yamlcheck.Parse(data)
	if all, _ := yamlcheck.Documents(data); len(all) > 1 {
		return text, fmt.Errorf("there are %d documents in it, and only one is read: put everything into one, without a line \"---\" between", len(all))
	}
	var document goyaml.Node
	if err := goyaml.Unmarshal(data, &document); err != nil {
		return text, err
	}
	if len(document.Content) == 0 || isNull(document.Content[0]) {
		return text, errEmpty
	}
	problems := append(text.Keys(), unread(document.Content[0], "")...)
	if len(problems) == 0 {
		problems = text.Check(reflect.TypeFor[Config]())
	}
	return text, located(problems, "")
}

// checkAlgorithms is checkForm for the configs of the algorithms in a text that
// was decoded to c.
func (c *Config) checkAlgorithms(text yamlcheck.Text) error {
	var all []error
	for name := range c.Algorithms {
		path := fmt.Sprintf("algorithms[%s].config", name)
		if newConfig, ok := builtin.Kinds[name]; ok {
			all = append(all, located(text.At(path).Check(reflect.TypeOf(newConfig())), path+"."))
		}
	}
	return errors.Join(all...)
}

// located lists all problems in order, with their lines, and with fields that
// begin where the text does.
func located(problems yamlcheck.Problems, path string) error {
	slices.SortStableFunc(problems, func(a, b yamlcheck.Problem) int { return cmp.Compare(a.Line, b.Line) })
	var all []error
	for _, p := range problems {
		// algorithms[lucky].config becomes algorithms.lucky.config
		all = append(all, fmt.Errorf("line %d: %s: %s", p.Line, key.ReplaceAllString(path+p.Field, ".$1"), p.Message))
	}
	return errors.Join(all...)
}

var key = regexp.MustCompile(`\[([^\]\d][^\]]*)\]`)

// unread finds what the decoder ignores in a value: tags that are not YAML's
// own, and nulls.
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
