package ownplugins

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
)

const (
	// Maintenance is the name of a plugin that keeps pods from nodes whose maintenance
	// has begun, or soon will.
	Maintenance = "Maintenance"
	// Window is the annotation of a node that says from when to when it is in
	// maintenance: 2026-12-01T22:00:00Z/2026-12-02T04:00:00Z.
	Window = "example.com/maintenance"
)

// MaintenanceArgs are what a configuration may say to the plugin.
type MaintenanceArgs struct {
	metav1.TypeMeta `json:",inline"`
	// Ahead is how long before a window a node takes no more pods.
	Ahead metav1.Duration `json:"ahead,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (a *MaintenanceArgs) DeepCopyObject() runtime.Object {
	theirs := *a
	return &theirs
}

type maintenance struct {
	ahead time.Duration
	now   func() time.Time
}

// NewMaintenance makes the plugin.
func NewMaintenance(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	plugin := &maintenance{now: time.Now}
	if args, ok := args.(*MaintenanceArgs); ok {
		plugin.ahead = args.Ahead.Duration
	}
	if plugin.ahead < 0 {
		return nil, field.Invalid(field.NewPath("ahead"), plugin.ahead.String(), "must not be negative")
	}
	return plugin, nil
}

// Name implements fwk.Plugin.
func (m *maintenance) Name() string { return Maintenance }

// Filter implements fwk.FilterPlugin.
func (m *maintenance) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	window, ok := node.Node().Annotations[Window]
	if !ok {
		return nil
	}
	begin, end, err := parse(window)
	if err != nil {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) had an annotation %s that is no window", Window))
	}
	now := m.now()
	if now.Before(begin.Add(-m.ahead)) || !now.Before(end) {
		return nil
	}
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) were in maintenance, or soon will be")
}

func parse(window string) (begin, end time.Time, err error) {
	from, to, _ := strings.Cut(window, "/")
	if begin, err = time.Parse(time.RFC3339, from); err == nil {
		end, err = time.Parse(time.RFC3339, to)
	}
	return begin, end, err
}

// EventsToRegister implements fwk.EnqueueExtensions: what may let a pod run that the
// plugin kept from every node. Nothing tells the end of a window: such a pod is tried
// again within five minutes.
func (m *maintenance) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAnnotation},
	}}, nil
}

// SignPod implements fwk.SignPlugin: nothing of a pod matters, so all are alike.
func (m *maintenance) SignPod(context.Context, *v1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	return nil, nil
}
