package simulator

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"

	"wasmkwokwizardry.io/regex-scheduling/regex"
)

func TestAnnotationsAreTheOnesThatTheConfigurationReads(t *testing.T) {
	const own, other = regex.Annotation, "example.com/node-regex"
	guest := func(profile, url, config string) string {
		return "- schedulerName: " + profile + "\n  plugins: {multiPoint: {enabled: [{name: W}]}}\n" +
			"  pluginConfig: [{name: W, args: {guestURL: " + url + ", guestConfig: '" + config + "'}}]\n"
	}
	for _, test := range []struct {
		name, config, scheduler string
		want                    []string
	}{
		{"no plugin of ours", "kind: KubeSchedulerConfiguration\n", v1.DefaultSchedulerName, nil},
		{"a guest that is configured but not enabled", "profiles: [{pluginConfig: [{name: W, args: {guestURL: a}}]}]\n", v1.DefaultSchedulerName, nil},
		{"a guest", "profiles:\n" + guest(v1.DefaultSchedulerName, "http://a/regex_v2.wasm", ""), v1.DefaultSchedulerName, []string{own}},
		{"a guest with a key", "profiles:\n" + guest(v1.DefaultSchedulerName, "http://a/regex_v2.wasm", `{"annotation": "`+other+`"}`), v1.DefaultSchedulerName, []string{other}},
		{"v1 has no configuration", "profiles:\n" + guest(v1.DefaultSchedulerName, "http://a/regex_v1.wasm", `{"annotation": "`+other+`"}`), v1.DefaultSchedulerName, []string{own}},
		{"a guest in another profile", "profiles:\n" + guest("other", "http://a/b.wasm", ""), v1.DefaultSchedulerName, nil},
		{"a scheduler that does not run", "extenders: [{urlPrefix: a, filterVerb: filter}]\n", "other", nil},
		{"the native plugin with a key", "profiles: [{plugins: {filter: {enabled: [{name: RegexScheduling}]}}, pluginConfig: [{name: RegexScheduling, args: {annotation: " + other + "}}]}]\n", v1.DefaultSchedulerName, []string{other}},
		{"an extender beside it", "profiles:\n" + guest(v1.DefaultSchedulerName, "http://a/b.wasm", `{"annotation": "`+other+`"}`) + "extenders: [{urlPrefix: a, filterVerb: filter}]\n", v1.DefaultSchedulerName, []string{other, own}},
		{"an extender that only scores", "extenders: [{urlPrefix: a, prioritizeVerb: p}]\n", v1.DefaultSchedulerName, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := annotations([]byte(test.config), test.scheduler)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	excluding := guest(v1.DefaultSchedulerName, "http://a/regex_v2.wasm", `{"excludeAnnotation": "`+other+`"}`)
	keys, got := annotations([]byte("profiles:\n"+excluding), v1.DefaultSchedulerName)
	if !slices.Equal(keys, []string{own}) || !slices.Equal(got, []string{other}) {
		t.Errorf("a key of what to exclude: got %v, %v", keys, got)
	}
	for _, c := range Configurations {
		want := []string{own}
		if c.Variant == "none" {
			want = nil
		}
		got, _ := annotations(c.YAML(), v1.DefaultSchedulerName)
		if !slices.Equal(got, want) {
			t.Errorf("variant %s: got %v, want %v", c.Variant, got, want)
		}
	}
}
