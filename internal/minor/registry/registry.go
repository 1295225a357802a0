// Package registry holds what differs between minors of Kubernetes in the strategies by which an API server prepares and
// validates objects.
package registry
