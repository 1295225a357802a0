// Package work is what the benchmark gives every door to do: nodes and pods that
// look like those of a real cluster, and patterns that people write. It measures
// nothing.
package work

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// Cluster is the nodes of a cluster, as the scheduler's snapshot holds them.
type Cluster struct {
	fwk.SharedLister // only NodeInfos works
	Nodes            []*v1.Node
	Infos            []fwk.NodeInfo
	Names            []string
	byName           map[string]fwk.NodeInfo
}

// NewCluster makes a cluster of n nodes. The same n gives the same nodes.
func NewCluster(n int) *Cluster {
	c := &Cluster{byName: map[string]fwk.NodeInfo{}}
	for i := range n {
		node := NewNode(i)
		info := framework.NewNodeInfo()
		info.SetNode(node)
		c.Nodes = append(c.Nodes, node)
		c.Infos = append(c.Infos, info)
		c.Names = append(c.Names, node.Name)
		c.byName[node.Name] = info
	}
	return c
}

// NodeInfos implements fwk.SharedLister.
func (c *Cluster) NodeInfos() fwk.NodeInfoLister { return lister{c: c} }

// lister is a fwk.NodeInfoLister. What no door asks for panics.
type lister struct {
	fwk.NodeInfoLister
	c *Cluster
}

func (l lister) List() ([]fwk.NodeInfo, error) { return l.c.Infos, nil }

func (l lister) Get(name string) (fwk.NodeInfo, error) {
	if info, ok := l.c.byName[name]; ok {
		return info, nil
	}
	return nil, fmt.Errorf("no node %q", name)
}

// Handle is as much of the scheduler as a guest asks for: its snapshot.
func (c *Cluster) Handle() fwk.Handle { return handle{c: c} }

type handle struct {
	fwk.Handle
	c *Cluster
}

func (h handle) SnapshotSharedLister() fwk.SharedLister { return h.c }
