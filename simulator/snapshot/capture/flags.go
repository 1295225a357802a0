package capture

import (
	"errors"

	"github.com/spf13/pflag"
)

// AddFlags makes flags of the options. use is what the cluster is read for.
func (o *Options) AddFlags(flags *pflag.FlagSet, use string) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig of a "+use)
	flags.StringVar(&o.Context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.NodeSelector, "node-selector", "", "label selector: only these nodes, the pods on them, and pods without a node")
	flags.StringSliceVar(&o.Annotations, "annotation", nil, "key of an annotation to keep, since a plugin reads it; may be given more than once")
}

// Check refuses flags about a cluster where none is given.
func (o *Options) Check() error {
	if o.Kubeconfig == "" && (o.Context != "" || o.NodeSelector != "" || len(o.Annotations) > 0) {
		return errors.New("--context, --node-selector and --annotation are about the cluster of --kubeconfig, and there is none")
	}
	return nil
}
