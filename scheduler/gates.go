package scheduler

import (
	"sync"

	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// making is held while a scheduler is made, which reads the feature gates of the process.
var making sync.Mutex

// withGates does something while feature gates are otherwise, and no other scheduler is made.
func withGates(gates map[string]bool, do func() error) error {
	making.Lock()
	defer making.Unlock()
	of := feature.DefaultMutableFeatureGate
	were := map[string]bool{}
	for name := range gates {
		were[name] = of.Enabled(featuregate.Feature(name))
	}
	if err := of.SetFromMap(gates); err != nil {
		return err
	}
	defer func() { _ = of.SetFromMap(were) }() // which they were
	return do()
}
