package simulator

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/minor"
)

// Values of Config.Kubelets.
const (
	OurKubelets = "simulated"
	NoKubelets  = "none"
)

// Config says how to run a simulator. Its zero value needs a Variant or a
// SchedulerConfig.
type Config struct {
	Variant string // one of Variants
	// SchedulerConfig is a KubeSchedulerConfiguration, in YAML or JSON, instead of that of Variant.
	SchedulerConfig []byte
	// Plugins can be in configurations, beside those of package kubescheduler's Registry.
	Plugins frameworkruntime.Registry
	// DataDir keeps the cluster, and the configuration that was applied last to a running simulator.
	// Empty: a temporary one, removed at the end.
	DataDir string
	// Importing announces ImportFirst: controllers are paused until it is done, so
	// that none acts on what is in DataDir before.
	Importing bool
	// Resume starts with the configuration that DataDir keeps, if it can be used.
	Resume bool
	// APIPort is for the API server, WebPort for the web server of the guests. Zero: any free one.
	APIPort, WebPort int
	Kubelets         string // OurKubelets, which empty stands for, or NoKubelets
	// Prepare, which may be nil, gets each scheduler before it runs, with the recorder attached.
	Prepare func(*scheduler.Scheduler)
	// PodGroups has the pods of a PodGroup scheduled as one, which needs Kubernetes 1.37.
	// It holds for the process.
	PodGroups bool
	// ResultAnnotations writes the results of scheduling attempts to annotations of
	// scheduled pods, as kube-scheduler-simulator does.
	ResultAnnotations bool
	// ExtenderBind lets extenders of the configuration bind pods, if they have a bindVerb.
	// Else the simulator binds: they may have the rights to bind pods in a real cluster.
	ExtenderBind bool
	// Progress is called with each step as it begins. It may be nil.
	Progress func(step string)
	// Warnings gets a line for each thing that a person should know, few at a time. Nil drops them.
	Warnings io.Writer

	configName string // of SchedulerConfig, for people
}

// Check reports settings that cannot be used.
func (c *Config) Check() error {
	if c.PodGroups && minor.NoPodGroups != "" {
		return errors.New("--pod-groups: " + minor.NoPodGroups + ": make bin/simulator-1.37")
	}
	return nil
}

func (c *Config) complete() (err error) {
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Warnings == nil {
		c.Warnings = io.Discard
	}
	c.configName, c.SchedulerConfig = "the given configuration", bytes.Clone(c.SchedulerConfig)
	if c.SchedulerConfig == nil {
		c.configName = "plugin variant " + c.Variant
		c.SchedulerConfig, err = SchedulerConfig(c.Variant)
	}
	return err
}

// apiPort is kube-scheduler-simulator's.
const apiPort = 3131

// AddFlags makes flags of what a person configures.
func (c *Config) AddFlags(flags *pflag.FlagSet) {
	c.Variant = "v2"
	flags.Var(cli.OneOf(&c.Variant, Variants...), "plugin", "plugin variant: "+strings.Join(Variants, ", "))
	flags.StringVar(&c.DataDir, "data-dir", "", "directory that keeps the cluster and the scheduler's configuration (default: a temporary one)")
	flags.Var(cli.OneOf(&c.Kubelets, OurKubelets, NoKubelets), "kubelets",
		"what makes nodes Ready and bound pods Running: "+OurKubelets+", or "+NoKubelets+" if you run your own, such as KWOK (default "+OurKubelets+")")
	flags.BoolVar(&c.ResultAnnotations, "result-annotations", false,
		"write the results of scheduling attempts to annotations of scheduled pods, as kube-scheduler-simulator does")
	flags.BoolVar(&c.PodGroups, "pod-groups", false,
		"serve PodGroups, and schedule their pods as one; needs Kubernetes 1.37; implied by a copy of a cluster that has some")
	flags.BoolVar(&c.ExtenderBind, "extender-bind", false,
		"send bind requests to extenders that have a bindVerb; only for an extender that binds pods in this cluster")
	c.APIPort = apiPort
	flags.Var(cli.Number(&c.APIPort, 0, math.MaxUint16), "api-port", "port of the cluster's API server on 127.0.0.1; 0 is any free one")
	flags.Var(cli.Number(&c.WebPort, 0, math.MaxUint16), "web-port", "port of the web server of the guests on 127.0.0.1; 0 is any free one")
}

// Configuration is a KubeSchedulerConfiguration to pick from.
type Configuration struct {
	Variant string // what --plugin takes
	Title   string // what it does
}

// Configurations are the ready-made configurations, one for each plugin variant.
var Configurations = []Configuration{
	{"v1", "Wasm guest v1"},
	{"v2", "Wasm guest v2"},
	{"native", "native plugin"},
	{"extender", "HTTP extender, full nodes"},
	{"extender-names", "HTTP extender, names (nodeCacheCapable)"},
	{"none", "Unmodified kube-scheduler"},
}

// Variants are the plugin variants that the simulator can be started with.
var Variants = func() (all []string) {
	for _, c := range Configurations {
		all = append(all, c.Variant)
	}
	return all
}()

// configs holds a KubeSchedulerConfiguration for each variant.
//
//go:embed variants/*.yaml
var configs embed.FS

// YAML is the configuration itself.
func (c Configuration) YAML() []byte {
	config, err := SchedulerConfig(c.Variant)
	if err != nil {
		panic(err) // it is embedded
	}
	return config
}

// SchedulerConfig returns the KubeSchedulerConfiguration of a plugin variant or a preset.
func SchedulerConfig(name string) ([]byte, error) {
	preset, ok := presets[name]
	if ok {
		return []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: default-scheduler" + preset + "\n"), nil
	}
	config, err := configs.ReadFile("variants/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no plugin variant %q: choose one of %v", name, Variants)
	}
	return config, nil
}

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
