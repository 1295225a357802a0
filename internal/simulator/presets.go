package simulator

import (
	"maps"
	"slices"
)

// aksPacks is what AKS's documentation has of both strategies that pack nodes: CPU counts eight times
// as much as memory, and PodTopologySpread is off, since it would outweigh that.
const aksPacks = `
  plugins: {multiPoint: {disabled: [{name: PodTopologySpread}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {resources: [{name: cpu, weight: 8}, {name: memory, weight: 1}], type: `

// presets are what a managed cluster lets one choose of its scheduler, as the end of a profile. Each is
// applied to the default profile, so that the pods of a cluster are compared as they are.
//
// EKS runs an unmodified kube-scheduler, and since August 2026 lets one choose the type and the resources of
// NodeResourcesFit's scoringStrategy: LeastAllocated or MostAllocated (aws/containers-roadmap 1468,
// https://docs.aws.amazon.com/eks/latest/userguide/control-plane-configuration.html,
// https://docs.aws.amazon.com/eks/latest/APIReference/API_ScoringStrategy.html). The resources here are upstream's
// default, CPU and memory alike.
//
// AKS scores by LeastAllocated, and takes any profile of in-tree plugins from a SchedulerConfiguration (Azure/AKS 4203).
// Those here are its documentation's for packing nodes, in March 2026, when this was a preview
// (https://learn.microsoft.com/azure/aks/configure-node-binpack-scheduler), where pods name the profile.
var presets = map[string]string{
	"eks":                "",
	"eks:LeastAllocated": "",
	"eks:MostAllocated":  "\n  pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]",
	"aks":                "",
	"aks:MostAllocated":  aksPacks + "MostAllocated}}",
	"aks:RequestedToCapacityRatio": aksPacks + `RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [
      {utilization: 0, score: 0}, {utilization: 30, score: 9}, {utilization: 50, score: 10},
      {utilization: 85, score: 10}, {utilization: 90, score: 5}, {utilization: 100, score: 0}]}}}`,
}

// Presets are the names of the presets for managed clusters.
var Presets = slices.Sorted(maps.Keys(presets))
