// Package controlplane holds what differs between minors of Kubernetes in making an
// API server and controllers.
package controlplane
