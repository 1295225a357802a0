// Package kubelet holds what differs between minors of Kubernetes in how a kubelet admits pods.
package kubelet
