package work

import (
	"fmt"
	"regexp"
	"strings"
)

// Case is what the pods of a measurement ask for.
type Case struct {
	Name      string
	Pattern   string
	Annotated bool
	// Filtered is true if the pod asks something of each node. Of the other
	// cases only the cost per pod means anything.
	Filtered bool
}

// Cases are what a user may write, and the two ways not to.
func Cases() []Case {
	return []Case{
		honest("prefix", `^kubecon-`),
		honest("suffix", `\.internal$`),
		honest("literal", `pool-3`),
		honest("class", `^gke-[a-z0-9-]+$`),
		honest("alternation-3", `kubecon-|vmss|edge-`),
		honest("alternation-100", hundred()),
		honest("(?i)", `(?i)KUBECON`),
		honest(".*", `.*`),
		{Name: "finite", Pattern: Finite, Annotated: true},
		{Name: "none"},
		{Name: "invalid", Pattern: `kubecon-(`, Annotated: true},
	}
}

// Finite is a pattern that names two nodes.
const Finite = `^(kubecon-1|kubecon-2)$`

func honest(name, pattern string) Case {
	return Case{Name: name, Pattern: pattern, Annotated: true, Filtered: true}
}

// hundred is an alternation of 100 nodes' short names, not anchored. With their
// domains they would exceed the budget of a pattern.
func hundred() string {
	var names []string
	for i := range 100 {
		name, _, _ := strings.Cut(NodeName(3+28*i), ".")
		names = append(names, name)
	}
	return strings.Join(names, "|")
}

// Want counts the nodes of a cluster that a pod of the case may run on.
func (c Case) Want(cluster *Cluster) (int, error) {
	if !c.Annotated {
		return len(cluster.Nodes), nil
	}
	re, err := regexp.Compile(c.Pattern)
	if err != nil {
		return 0, nil // a pattern that is refused admits no node
	}
	n := 0
	for _, node := range cluster.Nodes {
		if re.MatchString(node.Name) {
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("case %s: no node of %d matches", c.Name, len(cluster.Nodes))
	}
	return n, nil
}
