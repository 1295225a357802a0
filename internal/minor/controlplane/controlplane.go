// Package controlplane holds what differs between minors of Kubernetes in making an
// API server, its admission plugins and controllers.
package controlplane
