// Package controlplane runs a real Kubernetes control plane inside the
// process: an etcd and a kube-apiserver, on loopback, with certificates of
// their own and RBAC on, so that a scheduler, kubelets and kubectl meet the same
// API that a cluster of machines serves.
//
// It also runs some of kube-controller-manager's controllers, each under its own
// service account: those of Deployments, ReplicaSets, ReplicationControllers,
// StatefulSets, DaemonSets, Jobs and CronJobs; the binder of persistent volumes and
// the maker of pods' own claims; the one that counts how many pods of a disruption
// budget may go; and those without which a plain "kubectl delete" hangs or leaves
// litter: namespace deletion, the garbage collector of owned objects, the clean-up
// of pods whose node is gone, of device claims, and of jobs whose time is over.
//
// What it is not: it makes no volumes (package volumes does), and runs no service
// accounts for pods, no node lifecycle (taints on silent nodes) and no kubelet.
// Making nodes Ready and pods Running is package kubelets' work; placing pods is the
// scheduler's. Nothing here is for production: one member, no backup, no audit. It is no API.
package controlplane
