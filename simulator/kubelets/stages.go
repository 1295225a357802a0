package kubelets

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"wasmkwokwizardry.io/regex-scheduling/simulator/reconcile"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages"
	"wasmkwokwizardry.io/regex-scheduling/simulator/stages/player"
)

// follow makes nodes and pods do what their stages say, if there are any.
func (k *kubelets) follow(ctx context.Context, config *rest.Config, set *stages.Set, nodeQueue *reconcile.Queue, warnings *log.Logger) error {
	ofNodes, ofPods := set.Of(stages.Nodes), set.Of(stages.Pods)
	if ofNodes == nil && ofPods == nil {
		return nil
	}
	server, err := player.Connect(ctx, config)
	if err != nil {
		return err
	}
	if ofNodes != nil {
		k.nodeStages, err = player.New(stages.Nodes, ofNodes, server, templates{k}, nodeQueue.AddAfter, warnings)
	}
	if ofPods != nil && err == nil {
		k.podStages, err = player.New(stages.Pods, ofPods, server, templates{k}, k.later, warnings)
	}
	return err
}

// playNode leaves to stages what a node says of itself. Its lease they say nothing
// of, nor do they to KWOK.
func (k *kubelets) playNode(ctx context.Context, node *v1.Node) error {
	if uid, ok := k.leased.Load(node.Name); !ok || uid != node.UID {
		if err := k.lease(ctx, node); err != nil {
			return err
		}
		k.leased.Store(node.Name, node.UID)
	}
	k.nodeStages.Play(ctx, node)
	return nil
}

func (k *kubelets) playPod(ctx context.Context, pod *v1.Pod) {
	if pod.Status.PodIP != "" {
		k.addresses.said(pod)
	}
	k.podStages.Play(ctx, pod)
}

func (k *kubelets) forgetNode(node any) {
	if k.nodeStages == nil {
		return
	}
	k.nodeStages.Forget(node)
	if name, err := cache.DeletionHandlingObjectToName(node); err == nil {
		k.leased.Delete(name.Name)
	}
}

func (k *kubelets) forgetPod(pod any) {
	if k.podStages != nil {
		k.podStages.Forget(pod)
	}
}

// templates answers what templates ask.
type templates struct{ *kubelets }

func (t templates) NodeIP() string { return nodeIP }

func (t templates) NodeIPs(name string) []string {
	node, err := t.nodes.Get(name)
	if err != nil {
		return []string{nodeIP}
	}
	return hostIPs(node)
}

// PodIPs are one of each range of the node. KWOK would give a pod that has some
// others.
func (t templates) PodIPs(object metav1.Object, node string, hostNetwork bool) ([]string, error) {
	pod, ok := object.(*v1.Pod)
	if !ok {
		return nil, fmt.Errorf("there are addresses for pods only, and this is a %T", object)
	}
	if hostNetwork {
		return t.NodeIPs(node), nil
	}
	if has := ipsOf(pod); len(has) > 0 {
		return has, nil
	}
	var all []string
	for _, cidr := range t.ranges(node) {
		ip, err := t.addresses.take(cidr, pod)
		if err != nil {
			return nil, err
		}
		all = append(all, ip)
	}
	return all, nil
}

// ranges are those of a node's pods.
func (t templates) ranges(name string) []netip.Prefix {
	var all []netip.Prefix
	if node, err := t.nodes.Get(name); err == nil {
		for _, text := range append(node.Spec.PodCIDRs, node.Spec.PodCIDR) {
			if cidr, err := netip.ParsePrefix(text); err == nil && (text != node.Spec.PodCIDR || len(all) == 0) {
				all = append(all, cidr)
			}
		}
	}
	if len(all) == 0 {
		return []netip.Prefix{podCIDR}
	}
	return all
}
