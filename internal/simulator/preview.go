package simulator

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Preview returns the names of the nodes that a pod with this pattern in its
// annotation might run on now, sorted, and how many nodes there are. The error is
// a *regex.PatternError if it is the pattern that is wrong.
func (s *Simulator) Preview(pattern string) (matches []string, total int, err error) {
	selector, err := regex.Default.Compile(pattern)
	if err != nil {
		return nil, 0, err
	}
	nodes, err := s.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, 0, fmt.Errorf("list nodes: %w", err)
	}
	matches = []string{}
	for _, node := range nodes {
		if selector.Match(node.Name) {
			matches = append(matches, node.Name)
		}
	}
	slices.Sort(matches)
	return matches, len(nodes), nil
}
