package fit

import (
	"context"
	"fmt"
	"io"
	"strconv"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/cluster"
	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/engine"
)

// ReadNode reads a file with one Node, as kubectl prints it, of which more could be added.
func ReadNode(path string, stdin io.Reader) (*v1.Node, error) {
	m := newManifests(Namespace{})
	if err := m.read([]string{path}, stdin); err != nil {
		return nil, err
	}
	if len(m.objects.Nodes) != 1 || m.objects.Objects() != 1 {
		return nil, fmt.Errorf("%s: there has to be one Node, and nothing else", path)
	}
	node := &m.objects.Nodes[0]
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = node.Status.Capacity
	}
	if node.Name == "" || node.Status.Allocatable.Cpu().IsZero() || snapshot.LacksRoom(node) {
		return nil, fmt.Errorf("%s: the Node needs a metadata.name, and status.allocatable or status.capacity, with cpu and pods", path)
	}
	return node, nil
}

// Growth is how many nodes were added.
type Growth struct {
	Like  string `json:"like"` // the name of the node that they are like
	Nodes int    `json:"nodes"`
}

func (g *Growth) String() string { return report.Plural(g.Nodes, "more node") + " like " + g.Like }

// grow tries everything, and adds nodes like one until all fits, or until each pending pod
// could have had one of its own. It doubles their number until that is enough, and then halves
// what it has added last. By another way fewer might be enough.
func (f *fitting) grow(ctx context.Context, like *v1.Node) error {
	if err := f.tryAll(ctx); err != nil {
		return err
	}
	added := &Growth{Like: like.Name}
	f.found.Growth = added
	most := min(f.found.Pending, MostNodes)
	enough := 0
	for size := 1; f.found.Pending > 0 && size > 0; {
		f.progress("adds nodes", added.Nodes+size, 0)
		undo, keep := f.engine.Try()
		if err := f.add(ctx, like, size); err != nil {
			return err
		}
		if err := f.schedule(ctx); err != nil {
			return err
		}
		if f.found.Pending == 0 && size > 1 {
			undo()
			f.found.Pending = 1 // at least
			enough = added.Nodes + size
			size /= 2
			continue
		}
		keep()
		added.Nodes += size
		left := enough - added.Nodes
		if left > 0 {
			size = max(1, left/2)
		} else {
			size = min(2*size, most-added.Nodes)
		}
	}
	return nil
}

// add adds nodes to the cluster.
func (f *fitting) add(ctx context.Context, like *v1.Node, nodes int) error {
	var names []string
	for number := 1; len(names) < nodes; number++ {
		name := engine.Suffixed(like.Name, "-"+strconv.Itoa(number))
		if cluster.Get[*v1.Node](f.engine.Cluster, "", name) == nil {
			names = append(names, name)
		}
	}
	return f.engine.AddNodes(ctx, like, names...)
}
