package simulator

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

// Preview returns the names of the nodes that a pod with these annotations might
// run on now, sorted, and how many nodes there are. The error is a
// *regex.PatternError if it is a pattern that is wrong.
func (s *Simulator) Preview(annotations map[string]string) (matches []string, total int, err error) {
	selector, err := regex.Default.Selector(annotations)
	if err != nil {
		return nil, 0, err
	}
	nodes, err := s.informers.Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, 0, fmt.Errorf("list nodes: %w", err)
	}
	matches = []string{}
	for _, node := range nodes {
		if selector == nil || selector.Match(node.Name) {
			matches = append(matches, node.Name)
		}
	}
	slices.Sort(matches)
	return matches, len(nodes), nil
}
