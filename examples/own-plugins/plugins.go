// Package ownplugins has two plugins that a scheduler and a simulator can have beside
// their own: the programs in cmd. Its README says how to make yours of it.
package ownplugins

import (
	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	conversion "k8s.io/kubernetes/pkg/scheduler/apis/config/v1"
)

// All are the plugins of this package.
var All = []app.Option{
	app.WithPlugin(Maintenance, NewMaintenance),
	app.WithPlugin(Weight, NewWeight),
}

// Kubernetes knows the args of a plugin by a type whose name is the plugin's and "Args",
// and so finds what is misspelt in them. It has one scheme to read them with, and one to
// make of what is written what is used. Both are the same type here.
func init() {
	for _, args := range []*runtime.Scheme{scheme.Scheme, conversion.GetPluginArgConversionScheme()} {
		args.AddKnownTypes(configv1.SchemeGroupVersion, &MaintenanceArgs{}, &WeightArgs{})
		args.AddKnownTypes(config.SchemeGroupVersion, &MaintenanceArgs{}, &WeightArgs{})
	}
}
