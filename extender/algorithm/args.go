package algorithm

// Args is a request: a pod and the nodes that are left for it. It is good
// until the call that got it returns; the strings in it are good forever.
type Args struct {
	Pod Pod
	// Names are the names of the candidate nodes, as the request orders them.
	// A node without a name has the empty one, and names may repeat.
	Names []string
}

// Pod is what algorithms want to know of a pod.
type Pod struct {
	Namespace, Name string
	Annotations     map[string]string
}

// String is namespace/name.
func (p *Pod) String() string { return p.Namespace + "/" + p.Name }

// only returns the same request with just the nodes whose indices are given.
func (a *Args) only(indices []int) *Args {
	few := &Args{Pod: a.Pod, Names: make([]string, len(indices))}
	for i, k := range indices {
		few.Names[i] = a.Names[k]
	}
	return few
}
