package simulator

import (
	"strings"

	"github.com/spf13/pflag"
)

// apiPort is that of kube-scheduler-simulator.
const apiPort = 3131

// AddFlags makes flags of what a person configures.
func (c *Config) AddFlags(flags *pflag.FlagSet) {
	c.AddDoorFlag(flags)
	flags.StringVar(&c.DataDir, "data-dir", "", "directory that keeps the cluster and the scheduler's configuration (default: a temporary one)")
	flags.StringVar(&c.Kubelets, "kubelets", "", "what makes nodes Ready and bound pods Running: "+OurKubelets+", or "+NoKubelets+
		" if you run something yourself (default "+OurKubelets+")")
	flags.StringVar(&c.Kwok.Path, "kwok", "", "program of KWOK to run instead of our kubelets, such as bin/kwok of \"make kwok\"")
	flags.StringSliceVar(&c.Kwok.Configs, "kwok-config", nil, "file for KWOK's --config, with its Stages; may be given more than once")
	flags.BoolVar(&c.ResultAnnotations, "result-annotations", false,
		"write on each pod that is scheduled what its attempts came to, in the annotations of kube-scheduler-simulator")
	flags.IntVar(&c.APIPort, "api-port", apiPort, "port of the cluster's API server on 127.0.0.1; 0 is any free one")
	flags.IntVar(&c.WebPort, "web-port", 0, "port of the web server of the guests on 127.0.0.1; 0 is any free one")
}

// AddDoorFlag makes a flag of Door alone.
func (c *Config) AddDoorFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.Door, "door", "v2", "way into the scheduler: "+strings.Join(Doors, ", "))
}
