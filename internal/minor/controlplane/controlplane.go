// Package controlplane holds what differs between minors of Kubernetes in making an
// API server and controllers. It is no API.
package controlplane
