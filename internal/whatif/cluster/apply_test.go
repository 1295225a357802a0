package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

const pods = `selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: a}]}}`

// applied are the last of some manifests as the cluster has it then, and what it keeps.
func applied(t *testing.T, c *Cluster, manifests ...string) (o Object, kept []string, err error) {
	t.Helper()
	for _, manifest := range manifests {
		fields := map[string]any{}
		testkit.Must(t, yaml.Unmarshal([]byte(manifest), &fields))
		o, err = c.Decode(fields)
		testkit.Must(t, err)
		testkit.Must(t, err)
		kept, err = c.Apply(t.Context(), o)
	}
	return c.Current(o), kept, err
}

func inDefault(t *testing.T) *Cluster {
	t.Helper()
	c, err := New(time.Now)
	testkit.Must(t, err)
	_, err = c.Create(t.Context(), &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	testkit.Must(t, err)
	return c
}

func TestServicesGetWhatAnAPIServerAllocates(t *testing.T) {
	const (
		service  = `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 1}], `
		headless = service + `clusterIP: None, `
		given    = service + `clusterIP: 10.0.0.5, clusterIPs: [10.0.0.5], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, `
		local    = `type: LoadBalancer, externalTrafficPolicy: Local`
	)
	for name, tt := range map[string]struct {
		stored, manifest string
		replace          bool
		ips              string
		healthCheck      bool
	}{
		"a new headless one":                               {"", headless + `}}`, false, "[None]", false},
		"a new one with an address":                        {"", service + `clusterIP: 10.0.0.5}}`, false, "[10.0.0.5]", false},
		"a new one that checks health":                     {"", service + local + `}}`, false, "[]", true},
		"one that checks health from now on":               {given + `}}`, service + local + `}}`, false, "[10.0.0.5]", true},
		"one that checks health, stored without a port":    {service + local + `}}`, service + `selector: {a: b}, ` + local + `}}`, false, "[]", true},
		"one that is replaced without an address":          {given + `}}`, service + `selector: {a: b}}}`, true, "[10.0.0.5]", false},
		"one that is replaced with its address":            {given + `}}`, service + `clusterIP: 10.0.0.5}}`, true, "[10.0.0.5]", false},
		"a headless one that was stored as it was written": {headless + `}}`, headless + `selector: {a: b}}}`, false, "[None]", false},
		"one that becomes an ExternalName":                 {given + `}}`, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ExternalName, externalName: a.example}}`, true, "[]", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := inDefault(t)
			decode := func(manifest string) *v1.Service {
				fields := map[string]any{}
				testkit.Must(t, yaml.Unmarshal([]byte(manifest), &fields))
				o, err := c.Decode(fields)
				testkit.Must(t, err)
				return o.(*v1.Service)
			}
			if tt.stored != "" {
				testkit.Must(t, c.Load(&snapshot.Snapshot{Services: []v1.Service{*decode(tt.stored)}}))
			}
			o := decode(tt.manifest)
			var err error
			if tt.replace {
				err = c.Update(o)
			} else {
				_, err = c.Apply(t.Context(), o)
			}
			testkit.Must(t, err)
			spec := Get[*v1.Service](c, "default", "s").Spec
			if fmt.Sprint(spec.ClusterIPs) != tt.ips || spec.HealthCheckNodePort > 0 != tt.healthCheck {
				t.Errorf("got clusterIPs %v, healthCheckNodePort %d", spec.ClusterIPs, spec.HealthCheckNodePort)
			}
		})
	}
}

func TestApplyRejectsAsAnAPIServer(t *testing.T) {
	for name, tt := range map[string]struct{ before, after, want string }{
		"a Deployment's selector": {
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {` + pods + `}}`,
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {` + strings.ReplaceAll(pods, "app: web", "app: other") + `}}`,
			"field is immutable",
		},
		"a StatefulSet's podManagementPolicy": {
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {` + pods + `}}`,
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {podManagementPolicy: Parallel, ` + pods + `}}`,
			`StatefulSet.apps "web" is invalid: spec`, // and each minor has another sentence
		},
		"a PriorityClass's value": {
			`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}`,
			`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 2}`,
			"may not be changed in an update",
		},
		"a ResourceClaimTemplate": {
			`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}}`,
			`{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}}}`,
			"field is immutable",
		},
		"a StorageClass's provisioner": {
			`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: a}`,
			`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: b}`,
			"provisioner: ",
		},
		"a claim that its class cannot expand": {
			`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}`,
			"spec is immutable after creation except resources.requests",
		},
		"a namespace without a name of a label": {
			"", `{apiVersion: v1, kind: Namespace, metadata: {name: Upper}}`, "a lowercase RFC 1123 label must consist of",
		},
		"a LimitRange whose default is more than its maximum": {
			"", `{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, max: {cpu: 1}, default: {cpu: 2}}]}}`, "is greater than max value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := inDefault(t)
			if tt.before != "" {
				_, _, err := applied(t, c, tt.before)
				testkit.Must(t, err)
			}
			_, _, err := applied(t, c, tt.after)
			testkit.ErrorHas(t, err, tt.want)
			if !IsRejection(err) {
				t.Errorf("%v is no rejection", err)
			}
		})
	}
}

func TestApplyMergesAsKubectl(t *testing.T) {
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {ANNOTATION}}, spec: {FIELDS` + pods + `}}`
	with := func(annotation, fields string) string {
		return strings.NewReplacer("ANNOTATION", annotation, "FIELDS", fields).Replace(deployment)
	}
	patched := strings.Replace(with("", "replicas: 3, "), "spec: {containers", "spec: {nodeSelector: {disk: ssd}, containers", 1)
	written := `kubectl.kubernetes.io/last-applied-configuration: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":3}}'`
	for name, tt := range map[string]struct {
		manifests []string
		replicas  int32
		disk      string
		kept      string
	}{
		"what others have written stays":   {[]string{patched, with("", "")}, 3, "ssd", "spec.replicas, spec.template.spec.nodeSelector"},
		"what was applied and is not more": {[]string{with(written, "replicas: 3, "), with("", "")}, 1, "", ""},
		"what is not understood":           {[]string{with("kubectl.kubernetes.io/last-applied-configuration: sha256-abc", "replicas: 3, "), with("", "")}, 3, "", "spec.replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			o, kept, err := applied(t, inDefault(t), tt.manifests...)
			testkit.Must(t, err)
			d := o.(*appsv1.Deployment)
			if *d.Spec.Replicas != tt.replicas || d.Spec.Template.Spec.NodeSelector["disk"] != tt.disk || strings.Join(kept, ", ") != tt.kept {
				t.Errorf("%d replicas, %v, kept %q", *d.Spec.Replicas, d.Spec.Template.Spec.NodeSelector, kept)
			}
		})
	}
}

// TestFieldsOfTheServerAreNotKept: they are not what somebody else has written.
func TestFieldsOfTheServerAreNotKept(t *testing.T) {
	for _, manifest := range []string{
		`{apiVersion: batch/v1, kind: Job, metadata: {name: work}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}}`,
		`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {` + strings.Replace(pods, "spec: {containers", "spec: {serviceAccountName: a, containers", 1) + `}}`,
		`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], ` + pods + `}}`,
	} {
		_, kept, err := applied(t, inDefault(t), manifest, manifest)
		if err != nil || len(kept) > 0 {
			t.Errorf("%s: kept %q, %v", manifest, kept, err)
		}
	}
}

// TestUpdatesCountGenerations: that of a DaemonSet's template decides which of its pods are of an old revision.
func TestUpdatesCountGenerations(t *testing.T) {
	const manifest = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {` + pods + `}}`
	o, _, err := applied(t, inDefault(t), manifest, strings.Replace(manifest, "image: a", "image: b", 1))
	testkit.Must(t, err)
	if o.GetGeneration() != 2 || o.GetAnnotations()[appsv1.DeprecatedTemplateGeneration] != "2" {
		t.Errorf("%+v", o)
	}
}

func named(manifest, name string) string { return strings.Replace(manifest, "NAME", name, 1) }
