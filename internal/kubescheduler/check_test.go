package kubescheduler

import (
	"context"
	"os"
	"strings"
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics"
)

// Others are in package command: a command's mistakes are found in the same way, but for these.
func TestMistakeThatMakingASchedulerFindsEndsARun(t *testing.T) {
	for config, want := range map[string]string{
		"profiles: [{plugins: {multiPoint: {enabled: [{name: RegexScheduling}, {name: RegexScheduling}]}}}]": "plugin \"RegexScheduling\" already registered",
		withPlugin("Wasm", "{guestURL: 'http://unknown/guest.wasm'}"):                                        "no such host",
		"profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]":                                           "initializing profiles: creating profile for scheduler name default-scheduler: at least one bind plugin is needed",
		"profiles: [{plugins: {score: {enabled: [{name: NodeName, weight: 1}]}}}]":                           "plugin \"NodeName\" does not extend ScorePlugin",
		"profiles: [{plugins: {multiPoint: {enabled: [{name: FactoryPanics}]}}}]":                            "initializing plugin \"FactoryPanics\": a plugin, or the scheduler, panicked in wasmkwokwizardry.io/regex-scheduling/internal/testkit/panics.",
	} {
		err := Run(t.Context(), Options{Config: configuration(t, config), Plugins: panics.Plugins, Transport: inProcess{}, Kubeconfig: kubeconfigWithoutServer(t)})
		if err == nil || !strings.HasPrefix(err.Error(), "scheduler: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n  %v, want %s", config, err, want)
		}
	}
}

func TestRunThatEndsLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	testkit.Mark(t.Context(), t.Name(), func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		testkit.Must(t, Run(ctx, Options{
			Kubeconfig: cluster.Kubeconfig(), Transport: inProcess{}, Ready: cancel,
			Config: profileWith(t, "Wasm", "{guestURL: 'http://static-webserver/empty_filter.wasm'}"),
		}))
	})
	testkit.EventuallyEnd(t, t.Name())
	left, _ := os.ReadDir(tmp)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
