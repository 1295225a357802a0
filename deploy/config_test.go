package deploy

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"wasmkwokwizardry.io/regex-scheduling/extender"
	"wasmkwokwizardry.io/regex-scheduling/fetch"
	"wasmkwokwizardry.io/regex-scheduling/internal/kubescheduler"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
	"wasmkwokwizardry.io/regex-scheduling/scheduler"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// configOf is the config.yaml that the pods of a folder's Deployment mount.
func configOf(t *testing.T, rendered []*unstructured.Unstructured) string {
	t.Helper()
	d := ofKind[appsv1.Deployment](t, rendered, "Deployment")[0]
	var mounted string
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == "config" {
			mounted = v.ConfigMap.Name
		}
	}
	for _, m := range ofKind[corev1.ConfigMap](t, rendered, "ConfigMap") {
		if m.Name == mounted {
			return m.Data["config.yaml"]
		}
	}
	t.Fatalf("ConfigMap %q is not in the folder", mounted)
	return ""
}

// extenderConfig is what an extender with that file, or none if it is empty, and
// those arguments does.
func extenderConfig(t *testing.T, text string, args ...string) *extender.Config {
	t.Helper()
	path := ""
	if text != "" {
		path = testkit.TempFile(t, "config.yaml", text)
	}
	c, err := extender.LoadConfig(path, args...)
	testkit.Must(t, err)
	return c
}

// extenderOf is what the extender of a folder does.
func extenderOf(t *testing.T, rendered []*unstructured.Unstructured) *extender.Config {
	t.Helper()
	args := ofKind[appsv1.Deployment](t, rendered, "Deployment")[0].Spec.Template.Spec.Containers[0].Args
	if args[0] != "--config=/etc/extender/config.yaml" {
		t.Fatalf("the extender's arguments are %q", args)
	}
	return extenderConfig(t, configOf(t, rendered), args[1:]...)
}

func TestExtendersConfigurations(t *testing.T) {
	for folder, filterAndPrioritize := range map[string][2]string{
		"base": {"regex", "regex"}, "nodeport": {"regex", "regex"}, "servicemonitor": {"regex", "regex"},
		"tls": {"regex", "regex"}, "load": {"regex", "load"},
	} {
		t.Run(folder, func(t *testing.T) {
			rendered := mustRender(t, "extender/"+folder)
			c := extenderOf(t, rendered)
			testkit.Equal(t, [2]string{c.Filter, c.Prioritize}, filterAndPrioritize, "filters and prioritizes with")
			spec := ofKind[appsv1.Deployment](t, rendered, "Deployment")[0].Spec.Template.Spec
			stop := c.Timeouts.Unready.Seconds() + c.Timeouts.Drain.Seconds()
			if float64(*spec.TerminationGracePeriodSeconds) <= stop {
				t.Errorf("it is killed after %d s, but may take %.0f s to stop", *spec.TerminationGracePeriodSeconds, stop)
			}
			limit := spec.Containers[0].Resources.Limits.Memory()
			if limit.Value() < c.Limits.Buffers.Value()+256<<20 {
				t.Errorf("the pod's memory, %s, is less than limits.buffers, %s, and 256Mi", limit, &c.Limits.Buffers)
			}
			if !strings.HasSuffix(c.Listen, ":8000") {
				t.Errorf("listens on %s", c.Listen)
			}
			probe := spec.Containers[0].ReadinessProbe.HTTPGet
			testkit.Equal(t, probe.Scheme == corev1.URISchemeHTTPS, c.TLS.Enabled(), "probed over %q", probe.Scheme)
			for _, file := range []string{c.TLS.CertFile, c.TLS.KeyFile, c.TLS.ClientCAFile} {
				holds := func(m corev1.VolumeMount) bool { return m.MountPath == filepath.Dir(file) }
				if file != "" && !slices.ContainsFunc(spec.Containers[0].VolumeMounts, holds) {
					t.Errorf("%s is not mounted", file)
				}
			}
		})
	}
}

// TestSchedulersCallServicesThatAreThere compares the URLs in their configurations with
// the names and ports of Services.
func TestSchedulersCallServicesThatAreThere(t *testing.T) {
	for _, tt := range []struct{ variant, url, folder, service string }{
		{"extender", "http://extender:8000/", "extender/base", "extender:8000"},
		{"extender-tls", "https://extender:8000/", "extender/tls", "extender:8000"},
		{"wasm", "http://static-webserver/regex_v2.wasm\n      guestSHA256: ", "static-webserver", "static-webserver:80"},
	} {
		s := ofKind[corev1.Service](t, mustRender(t, tt.folder), "Service")[0]
		testkit.Equal(t, fmt.Sprintf("%s:%d", s.Name, s.Spec.Ports[0].Port), tt.service, "the service of %s", tt.folder)
		testkit.Has(t, configOf(t, mustRender(t, "scheduler/"+tt.variant)), tt.url)
	}
}

// sidecarConfig is what the extender does that runs beside the scheduler.
func sidecarConfig(t *testing.T, rendered []*unstructured.Unstructured) *extender.Config {
	t.Helper()
	sidecar := ofKind[appsv1.Deployment](t, rendered, "Deployment")[0].Spec.Template.Spec.InitContainers[0]
	if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Error("the extender is not a sidecar: its pod would not start before it ends")
	}
	c := extenderConfig(t, "", sidecar.Args...)
	testkit.Equal(t, c.Listen, "127.0.0.1:8888", "where the sidecar listens")
	return c
}

// TestStartupProbesWaitForGuests leaves the kubelet's patience for the last fetch and the start of a guest beyond the scheduler's own.
func TestStartupProbesWaitForGuests(t *testing.T) {
	flag := scheduler.NewCommand(wasmhost.New(wasmhost.Options{})).Flags().Lookup("wait-for-guests")
	wait, err := time.ParseDuration(flag.DefValue)
	testkit.Must(t, err)
	for where, spec := range map[string]corev1.PodSpec{
		"scheduler/base": ofKind[appsv1.Deployment](t, mustRender(t, "scheduler/base"), "Deployment")[0].Spec.Template.Spec,
		"static-pods":    staticPod(t, "kube-scheduler").Spec,
	} {
		probe := spec.Containers[0].StartupProbe
		patience := time.Duration(cmp.Or(probe.PeriodSeconds, 10)*probe.FailureThreshold) * time.Second
		if patience < wait+2*fetch.DefaultTimeout {
			t.Errorf("%s: the startup probe fails after %s, but the scheduler waits %s for guests", where, patience, wait)
		}
	}
}

// TestSchedulersHaveOneLimitOfRequests has all configurations, and the chart, ship the same.
func TestSchedulersHaveOneLimitOfRequests(t *testing.T) {
	files, err := filepath.Glob("scheduler/*/config.yaml")
	testkit.Must(t, err)
	for _, file := range append(files, "static-pods/config.yaml") {
		text := testkit.ReadFile(t, file)
		config, err := kubescheduler.Read(text)
		testkit.Must(t, err)
		effective, err := config.Effective()
		testkit.Must(t, err)
		if c := effective.ClientConnection; c.QPS != 100 || c.Burst != 200 {
			t.Errorf("%s: %v requests a second, %d at once", file, c.QPS, c.Burst)
		}
	}
	values := testkit.ReadFile(t, "chart/values.yaml")
	testkit.Has(t, string(values), "  qps: 100\n  burst: 200\n")
}
