// Package controlplane runs a real Kubernetes control plane inside the
// process: an etcd and a kube-apiserver, on loopback, with certificates of
// their own and RBAC on, so that a scheduler, kubelets and kubectl meet the same
// API that a cluster of machines serves.
//
// It also runs four of kube-controller-manager's controllers, because without
// them a plain "kubectl delete" hangs or leaves litter: namespace deletion, the
// garbage collector of owned objects, the clean-up of pods whose node is gone,
// and the controller of device claims, which takes them back from pods.
//
// What it is not: it runs no workload controllers (a Deployment or a Job makes
// no pods), no volume binder, no service accounts for pods, no node lifecycle
// (taints on silent nodes) and no kubelet. Making nodes Ready and pods Running
// is package kubelets' work; placing pods is the scheduler's. Nothing here is for
// production: one member, no backup, no audit.
package controlplane
