package cluster

import (
	"testing"

	"wasmkwokwizardry.io/regex-scheduling/internal/testkit"
)

// TestQuotasCountAsKubernetesDoes: the second object is one too many.
func TestQuotasCountAsKubernetesDoes(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {activeDeadlineSeconds: 60, priorityClassName: high, containers: [{name: c, image: c}]}}`
	const claim = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: NAME}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}}`
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {` + pods + `}}`
	for name, tt := range map[string]struct{ quota, object, want string }{
		"pods with a deadline":     {`hard: {pods: 1}, scopes: [Terminating]`, pod, "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
		"pods without one":         {`hard: {pods: 1}, scopes: [NotTerminating]`, pod, ""},
		"pods of a priority class": {`hard: {pods: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}`, pod, "exceeded quota: q"},
		"pods of another one":      {`hard: {pods: 1}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}`, pod, ""},
		"Deployments":              {`hard: {count/deployments.apps: 1}`, deployment, "exceeded quota: q, requested: count/deployments.apps=1"},
		"devices of a class":       {`hard: {gpu.deviceclass.resource.k8s.io/devices: 3}`, claim, "exceeded quota: q, requested: gpu.deviceclass.resource.k8s.io/devices=2"},
		"claims":                   {`hard: {count/resourceclaims.resource.k8s.io: 1}`, claim, "exceeded quota: q"},
	} {
		t.Run(name, func(t *testing.T) {
			c := inDefault(t)
			_, _, err := applied(t, c, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1}`)
			testkit.Must(t, err)
			_, _, err = applied(t, c, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {`+tt.quota+`}}`)
			testkit.Must(t, err)
			_, _, err = applied(t, c, named(tt.object, "a"))
			testkit.Must(t, err)
			_, _, err = applied(t, c, named(tt.object, "b"))
			if tt.want == "" {
				testkit.Must(t, err)
			} else {
				testkit.ErrorHas(t, err, tt.want)
			}
			if len(c.NotModelled()) > 0 {
				t.Errorf("not modelled: %q", c.NotModelled())
			}
		})
	}
}
