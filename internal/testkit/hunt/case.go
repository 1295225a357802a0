// Package hunt makes small clusters and changes to them from a seed, for which a what-if and a live cluster must come
// to the same, and makes one smaller for which they do not.
//
// What a scheduler leaves to chance is for the caller to notice: of many cases the outcome depends on it.
package hunt

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/scenarios"
)

type (
	object = map[string]any
	list   = []any
)

// Case is a scenario as its three documents: the change, the cluster, and what the change makes.
type Case object

var documents = []string{"change", "cluster", "made"}

// Text is the case as a file of a scenario.
func (c Case) Text() string {
	var all []string
	for _, document := range documents {
		text, err := yaml.Marshal(c[document])
		if err != nil {
			panic(err) // it is made of maps, lists and plain values
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "---\n")
}

// Scenario is the case without what is expected.
func (c Case) Scenario() (*scenarios.Scenario, error) {
	return scenarios.Parse("case", []byte(c.Text()))
}

// Expect writes what is expected into the case.
func (c Case) Expect(lines []string) { at(c, "change")["expect"] = lines }

// Reversed is the case with the objects of its cluster in another order, which must not matter.
func (c Case) Reversed() Case {
	r := copied(c)
	for _, of := range []object{at(r, "cluster"), at(r, "made")} {
		for _, all := range of {
			slices.Reverse(all.(list))
		}
	}
	return r
}

func copied(value object) (to object) {
	convert(value, &to)
	return to
}

func convert(from, to any) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err) // it is made of maps, lists and plain values
	}
}

// Shrink removes all of a case without which it still differs: objects first, then their fields.
func Shrink(c Case, differs func(Case) bool) Case {
	for depth := 1; depth <= deepest; depth++ {
		for again := true; again; {
			again = false
			for _, path := range paths(object(c), depth+1) {
				smaller := Case(copied(c))
				remove(object(smaller), path)
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
func (c Case) isWhole() bool {
	var names []any
	for _, all := range at(c, "cluster") {
		for _, o := range asList(all) {
			names = append(names, at(o.(object), "metadata")["name"])
		}
	}
	for _, pod := range asList(at(c, "cluster")["pods"]) {
		of := []any{at(pod.(object), "spec")["nodeName"]}
		for _, owner := range asList(at(pod.(object), "metadata")["ownerReferences"]) {
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
func paths(value any, depth int) (all [][]any) {
	below := func(step, value any) {
		for _, path := range paths(value, depth-1) {
			all = append(all, append([]any{step}, path...))
		}
	}
	if depth == 0 {
		return [][]any{nil}
	}
	switch value := value.(type) {
	case object:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			below(key, value[key])
		}
	case list:
		for i, one := range slices.Backward(value) {
			below(i, one)
		}
	}
	return all
}

// remove returns a value without what is at a place in it.
func remove(from any, path []any) any {
	switch from := from.(type) {
	case object:
		key := path[0].(string)
		if len(path) == 1 {
			delete(from, key)
		} else {
			from[key] = remove(from[key], path[1:])
		}
	case list:
		i := path[0].(int)
		if len(path) == 1 {
			return slices.Delete(from, i, i+1)
		}
		from[i] = remove(from[i], path[1:])
	}
	return from
}
