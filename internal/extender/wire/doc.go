// Package wire reads what kube-scheduler sends to an extender and writes what
// it wants back: the types of k8s.io/kube-scheduler/extender/v1 as JSON.
//
// It decodes only what algorithms ask for and passes nodes on byte for byte,
// fields that it has never heard of included. Like encoding/json at the other
// end it takes the names of members in any case; unlike it, it refuses a member
// that is given twice, since the two ends might not pick the same one. It knows
// nothing of HTTP, and asks for the memory that it takes.
package wire
