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

// gone are fields that there were, and what holds without them.
var gone = map[string]string{
	"mode":            "each request is answered in the form in which it came",
	"timeouts.header": "it is 5s, or timeouts.read if that is less",
	"timeouts.write":  "it is 30s",
	"timeouts.idle":   "it is 2m",
}

// errNothing refuses a file that says nothing: more often it was emptied by
// accident, or is about to be written, than it asks for the defaults.
var errNothing = errors.New("there is nothing in it but comments and blanks: write {} if everything is to be as it is by default, " +
	"or restore what it was; --print-config shows all that can be set")

// decode refuses unknown and repeated fields, and a text without any.
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
// line. The decoder would tell of the first one, in Go's words, and passes over
// tags, values that are missing and a second document.
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
		return text, errNothing
	}
	problems := append(text.Keys(), unread(document.Content[0], "")...)
	if len(problems) == 0 {
		problems = text.Check(reflect.TypeFor[Config]())
	}
	for i, p := range problems {
		if instead, is := gone[p.Field]; is {
			problems[i].Message = "is no field any more: " + instead + "; leave it out"
		}
	}
	return text, located(problems, "")
}

// checkAlgorithms is checkForm for the configs of the algorithms in a text that
// was decoded to c.
func (c *Config) checkAlgorithms(text yamlcheck.Text) error {
	var all []error
	for name, entry := range c.Algorithms {
		path := fmt.Sprintf("algorithms[%s].config", name)
		if newConfig, ok := builtin.Kinds[cmp.Or(entry.Kind, name)]; ok {
			all = append(all, located(text.At(path).Check(reflect.TypeOf(newConfig())), path+"."))
		}
	}
	return errors.Join(all...)
}

// located tells all problems in order, with their lines, and with fields that
// begin where the text does.
func located(problems yamlcheck.Problems, path string) error {
	slices.SortStableFunc(problems, func(a, b yamlcheck.Problem) int { return cmp.Compare(a.Line, b.Line) })
	var all []error
	for _, p := range problems {
		// algorithms[lucky].weight becomes algorithms.lucky.weight
		all = append(all, fmt.Errorf("line %d: %s: %s", p.Line, key.ReplaceAllString(path+p.Field, ".$1"), p.Message))
	}
	return errors.Join(all...)
}

var key = regexp.MustCompile(`\[([^\]\d][^\]]*)\]`)

// unread finds what the decoder passes over in a value: tags that are not YAML's
// own, and nulls.
func unread(n *goyaml.Node, path string) (all yamlcheck.Problems) {
	switch {
	case n.Style&goyaml.TaggedStyle != 0 && !strings.HasPrefix(n.ShortTag(), "!!"):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has the tag " + n.Tag + ", which is not read here: " + insteadOf(n.Tag)})
	case isNull(n):
		all = append(all, yamlcheck.Problem{Field: path, Line: n.Line, Message: "has no value: give it one, or leave it out"})
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

// insteadOf says what to write instead of a tag. Extenders in Python name their
// algorithm by the tag of a class.
func insteadOf(tag string) string {
	name := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(tag, "!"), "Algorithm"))
	if _, ok := builtin.Kinds[name]; ok {
		return fmt.Sprintf("write \"algorithm: %s\"", name)
	}
	return "take it away"
}
