package compare

import "github.com/spf13/pflag"

// AddFlags makes flags of how pods are scheduled.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Pods, "pods", Pending,
		"which pods are scheduled: pending (those without a node), or all (every pod anew, in the order of creation)")
	flags.IntVar(&o.Runs, "runs", 1, "how often, with another seed each time, to see what chance does")
	flags.Uint64Var(&o.Seed, "seed", 1, "of the first run; those after it count up from it")
	flags.DurationVar(&o.Patience, "patience", DefaultPatience, "how long nothing new may happen before a side is given up")
	flags.BoolVar(&o.InTurn, "in-turn", false, "one side after the other, which takes half the memory")
}
