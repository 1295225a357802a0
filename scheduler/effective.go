package scheduler

import (
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// Effective is a configuration that [Check] has nothing against, as kube-scheduler
// reads it: with all defaults, those of plugins' args too.
func Effective(configuration []byte) (*config.KubeSchedulerConfiguration, error) {
	whole, err := Options{Config: configuration}.configuration()
	if err != nil {
		return nil, err
	}
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(whole, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return obj.(*config.KubeSchedulerConfiguration), nil
}
