// Package hunt makes small clusters and changes to them from a seed, for which a what-if and a live cluster must come
// to the same, and makes one smaller for which they do not.
//
// What a scheduler leaves to chance is for the caller to notice: of many cases the outcome depends on it.
package hunt

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
)

type (
	object = map[string]any
	list   = []any
)

// Case is a scenario as its three documents: the change, the cluster, and what the change makes.
type Case struct {
	change, cluster, made object
}

// Text is the case as a file of a scenario.
func (c *Case) Text() string {
	var documents []string
	for _, document := range []object{c.change, c.cluster, c.made} {
		text, err := yaml.Marshal(document)
		if err != nil {
			panic(err) // it is made of maps, lists and plain values
		}
		documents = append(documents, string(text))
	}
	return strings.Join(documents, "---\n")
}

// Scenario is the case without what is expected.
func (c *Case) Scenario() (*scenarios.Scenario, error) {
	return scenarios.Parse("case", []byte(c.Text()))
}

// Expect writes what is expected into the case.
func (c *Case) Expect(lines []string) {
	c.change["expect"] = lines
}

// Reversed is the case with the objects of its cluster in another order, which must not matter.
func (c *Case) Reversed() *Case {
	r := c.copy()
	for _, of := range []object{r.cluster, r.made} {
		for _, all := range of {
			slices.Reverse(all.(list))
		}
	}
	return r
}

func (c *Case) copy() *Case { return &Case{copied(c.change), copied(c.cluster), copied(c.made)} }

func copied(value object) (to object) {
	text, err := yaml.Marshal(value)
	if err == nil {
		err = yaml.Unmarshal(text, &to)
	}
	if err != nil {
		panic(err) // it is made of maps, lists and plain values
	}
	return to
}

// Shrink removes all of a case without which it still differs: objects first, then their fields.
func Shrink(c *Case, differs func(*Case) bool) *Case {
	for depth := 1; depth <= deepest; depth++ {
		for again := true; again; {
			again = false
			for _, path := range c.paths(depth) {
				smaller := c.without(path)
				if smaller.isWhole() && differs(smaller) {
					c = smaller
					again = depth <= 2 // fields are tried once
				}
			}
		}
	}
	return c
}

// isWhole reports whether the nodes and the owners of all pods are there: without them it is another case.
func (c *Case) isWhole() bool {
	var names []any
	for _, all := range c.cluster {
		for _, o := range asList(all) {
			metadata, _ := o.(object)["metadata"].(object)
			names = append(names, metadata["name"])
		}
	}
	for _, pod := range asList(c.cluster["pods"]) {
		metadata, _ := pod.(object)["metadata"].(object)
		spec, _ := pod.(object)["spec"].(object)
		of := []any{spec["nodeName"]}
		for _, owner := range asList(metadata["ownerReferences"]) {
			of = append(of, owner.(object)["name"])
		}
		if slices.ContainsFunc(of, func(name any) bool { return name != nil && !slices.Contains(names, name) }) {
			return false
		}
	}
	return true
}

// deepest is how deep in a document removing single values is worth its time: requests of a container are 7 deep.
const deepest = 8

// paths are the places of all values of a depth, in lists from the last to the first: when one is removed, the places
// that follow are still right.
func (c *Case) paths(depth int) (all [][]string) {
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		if len(path) == depth+1 {
			all = append(all, path)
			return
		}
		switch value := value.(type) {
		case object:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				walk(append(slices.Clone(path), key), value[key])
			}
		case list:
			for i := range slices.Backward(value) {
				walk(append(slices.Clone(path), strconv.Itoa(i)), value[i])
			}
		}
	}
	for name, document := range c.documents() {
		walk([]string{name}, document)
	}
	return all
}

func (c *Case) documents() map[string]any {
	return map[string]any{"change": c.change, "cluster": c.cluster, "made": c.made}
}

// without is the case without the value at a place.
func (c *Case) without(path []string) *Case {
	to := c.copy()
	documents := to.documents()
	remove(documents, path)
	return to
}

// remove returns a value without what is at a place in it.
func remove(from any, path []string) any {
	switch from := from.(type) {
	case object:
		if len(path) == 1 {
			delete(from, path[0])
		} else {
			from[path[0]] = remove(from[path[0]], path[1:])
		}
		return from
	case list:
		i, err := strconv.Atoi(path[0])
		if err != nil {
			panic(err) // paths wrote it
		}
		if len(path) == 1 {
			return slices.Delete(from, i, i+1)
		}
		from[i] = remove(from[i], path[1:])
		return from
	}
	return from
}
