package referee_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// asking makes a case of a question to a command: a cluster that controllers made of manifests, with what else people do to it.
func (g *generator) asking() huntCase {
	g.cluster = g.parse(quotas)
	for i := range 2 + g.IntN(4) {
		g.node(i, g.cluster)
	}
	for i := range 1 + g.IntN(3) {
		g.apply(g.manifest(fmt.Sprintf("old%d", i)))
	}
	for range g.IntN(3) {
		g.happen()
	}
	if g.likely(3) {
		app := pick(g, g.apps...)
		g.apply(g.parse("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: $app}, spec: {<minAvailable;maxUnavailable>: <0..2>, selector: {matchLabels: {app: $app}}}}", "$app", app))
	}
	g.change["steps"] = g.steps
	ask := pick(g, "fit", "rollout", "rollout", "rollout", "until-full", "grow-with", "drain", "drain", "fail", "upgrade")
	g.change["ask"] = ask
	delete(g.change, "config")
	switch ask {
	case "drain", "fail", "upgrade":
		nodes := list{}
		for _, i := range g.Perm(len(g.nodes))[:1+g.IntN(min(3, len(g.nodes)))] {
			nodes = append(nodes, g.nodes[i].name)
		}
		g.change["nodes"] = nodes
	case "grow-with", "until-full":
		g.change["nodes"] = list{pick(g, g.nodes...).name}
		o := g.manifest("new")
		for ask == "until-full" && (o["kind"] == "Pod" || o["kind"] == "DaemonSet") {
			o = g.manifest("new")
		}
		g.change["manifests"] = list{o}
	default:
		manifests := list{g.otherwise(pick(g, g.applied...))} // of two, it is left to chance whose pods are first
		if g.likely(2) {
			manifests = list{g.manifest("new")}
		}
		if g.likely(2) {
			manifests = append(list{g.parse(pick(g, others...))}, manifests...)
		}
		g.change["manifests"] = manifests
	}
	return huntCase{"change": g.change, "cluster": g.cluster, "made": object{}}
}

// quotas are of scopes and of objects.
const quotas = `
runtimeClasses: [{metadata: {name: box}, handler: box, overhead: {podFixed: {cpu: 300m}}}]
storageClasses:
- {metadata: {name: late}, provisioner: disks.example.com, volumeBindingMode: WaitForFirstConsumer,
   allowedTopologies: [<;;{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [<x;w;z>]}]}>]}
- {metadata: {name: now}, provisioner: disks.example.com}
priorityClasses: [<;;;;{metadata: {name: all}, value: <1..9>00, globalDefault: true}>]
limitRanges: [<;;;;;;;;;{metadata: {name: limits}, spec: {limits: [{type: Container, <defaultRequest: {cpu: <1..9>00m};default: {cpu: <1..9>00m};min: {cpu: 300m};max: {cpu: '2'}>}]}}>]
resourceQuotas: [<;;;;;{metadata: {name: quota}, spec: {hard: {<pods: '<3..9>';count/jobs.batch: '<0..1>';count/deployments.apps: '<1..2>';requests.cpu: '<2..9>'>}}};
  {metadata: {name: quota}, spec: {scopes: [<Terminating;NotTerminating;BestEffort;NotBestEffort>], hard: {pods: '<1..6>'}}};
  {metadata: {name: quota}, spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [p1]}]}, hard: {pods: '<0..3>'}}}>]
`

// strategies are what else the spec of an owner may have.
var strategies = map[string]string{
	"Deployment": `{strategy: {<;type: Recreate;rollingUpdate: {maxSurge: <0;1;'50%'>, maxUnavailable: <1;2;'30%'>};rollingUpdate: {maxSurge: 1, maxUnavailable: 0}>}<;;;, paused: true>
<;;;, minReadySeconds: 1><;;;, revisionHistoryLimit: 0>}`,
	"StatefulSet": `{serviceName: $name, podManagementPolicy: <OrderedReady;Parallel>, updateStrategy: {<type: OnDelete;;;rollingUpdate: {partition: <0..3>}>}<;;;, minReadySeconds: 1><;;;, ordinals: {start: <1..3>}>}`,
	"DaemonSet":   `{updateStrategy: {<type: OnDelete;;rollingUpdate: {maxUnavailable: <1;2;'50%'>};rollingUpdate: {maxSurge: 1, maxUnavailable: 0}>}<;;;, minReadySeconds: 1>}`,
	"ReplicaSet":  `{<;;;minReadySeconds: 1>}`,
	"Job": `{backoffLimit: <0;6;6><;;, activeDeadlineSeconds: 100000><;;;, podReplacementPolicy: Failed>
<;, podFailurePolicy: {rules: [{action: <Ignore;FailJob;Count>, onPodConditions: [{type: DisruptionTarget, status: 'True'}]}]}>}`,
}

// manifest is a workload as people write it.
func (g *generator) manifest(name string) object {
	kind := pick(g, "Deployment", "Deployment", "Deployment", "StatefulSet", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Pod")
	template := g.template(name)
	if g.likely(2) {
		maps.Copy(at(template, "spec"), g.parse("{hostNetwork: true}"))
		at(template, "spec")["containers"].(list)[0].(object)["ports"] = list{g.parse("{containerPort: <80;81>}")}
	}
	if g.likely(1) {
		delete(at(template, "spec"), "priorityClassName")
	}
	if g.likely(1) && g.cluster["deviceClasses"] == nil {
		g.devices(template)
	}
	if g.likely(2) {
		at(template, "metadata")["finalizers"] = list{"example.com/hold"}
	}
	tolerations := g.parse("{all: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 1}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]}")["all"]
	at(template, "spec")["tolerations"] = append(asList(at(template, "spec")["tolerations"]), tolerations.(list)...)
	o := object{"apiVersion": "apps/v1", "kind": kind, "metadata": object{"name": name, "namespace": "default"}}
	spec := g.parse(strings.NewReplacer("\n", " ").Replace(strategies[kind]), "$name", name)
	switch kind {
	case "Pod":
		o["apiVersion"] = "v1"
		maps.Copy(at(o, "metadata"), at(template, "metadata"))
		o["spec"] = template["spec"]
		return o
	case "Job":
		o["apiVersion"] = "batch/v1"
		n := 1 + g.IntN(4)
		maps.Copy(spec, object{"parallelism": n, "completions": n})
		at(template, "spec")["restartPolicy"] = "Never"
		at(template, "metadata", "annotations")["pod-complete.stage.kwok.x-k8s.io/delay"] = "24h"
	default:
		spec["selector"] = g.parse("{matchLabels: {app: $app}}", "$app", name)
		if kind != "DaemonSet" {
			spec["replicas"] = 1 + g.IntN(4)
		}
	}
	if kind == "StatefulSet" && g.likely(3) {
		add(spec, "volumeClaimTemplates", g.parse("{metadata: {name: data}, spec: "+ofClaim+"}", "$class", pick(g, "late", "now")))
		at(template, "spec")["containers"].(list)[0].(object)["volumeMounts"] = list{object{"name": "data", "mountPath": "/data"}}
	}
	spec["template"] = template
	o["spec"] = spec
	return o
}

func (g *generator) apply(manifest object) {
	by := "apply"
	if g.likely(2) && manifest["kind"] != "Pod" {
		by = "create" // no annotation says what was applied
	}
	g.steps = append(g.steps, object{by: manifest})
	at(manifest, "metadata")["namespace"] = "default"
	if manifest["kind"] != "PodDisruptionBudget" {
		g.applied = append(g.applied, manifest)
	}
}

// happen makes a change that clusters have had: changed manifests, patches of others, nodes that are cordoned, dead or under pressure.
func (g *generator) happen() {
	i := g.IntN(len(g.applied))
	is := g.applied[i]
	name := at(is, "metadata")["name"]
	kind := is["kind"].(string)
	node := pick(g, g.nodes...).name
	patch := func(of string, o object) { g.steps = append(g.steps, object{"patch": list{g.named(of, o)}}) }
	switch pick(g, "apply", "apply", "apply", "restart", "select", "scale", "cordon", "dead", "pressure", "gone", "secure") {
	case "apply":
		changed := g.otherwise(is)
		g.apply(changed)
		g.applied = g.applied[:len(g.applied)-1]
		if g.likely(5) { // or what is asked goes back to the one before
			g.applied[i] = changed
		}
	case "restart":
		if kind != "Pod" && kind != "Job" {
			patch(kind, object{"metadata": object{"name": name}, "spec": g.parse("{template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: '2026-01-01T00:00:00Z'}}}}")})
		}
	case "select":
		if kind != "Pod" && kind != "Job" {
			patch(kind, object{"metadata": object{"name": name}, "spec": g.parse("{template: {spec: {nodeSelector: {topology.kubernetes.io/zone: <x;w;z>}}}}")})
		}
	case "scale":
		if kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet" {
			patch(kind, object{"metadata": object{"name": name}, "spec": g.parse("{replicas: <0..5>}")})
		}
	case "cordon":
		patch("Node", g.parse("{metadata: {name: $n}, spec: {unschedulable: true}}", "$n", node))
	case "dead":
		patch("Node", g.parse("{metadata: {name: $n}, status: {conditions: [{type: Ready, status: Unknown}]}}", "$n", node))
	case "pressure":
		patch("Node", g.parse("{metadata: {name: $n}, status: {conditions: [{type: Ready, status: 'True'}, {type: <MemoryPressure;DiskPressure;PIDPressure>, status: 'True'}]}}", "$n", node))
	case "secure":
		patch("Namespace", g.parse("{metadata: {name: default, labels: {pod-security.kubernetes.io/enforce: <baseline;restricted;privileged>}}}"))
	case "gone":
		if len(g.nodes) > 2 {
			g.nodes = slices.DeleteFunc(g.nodes, func(n *nodeRoom) bool { return n.name == node })
			g.steps = append(g.steps, object{"delete": list{"node " + node}})
			for _, o := range g.applied { // of a node that is gone, its controller hears nothing before it looks again
				if o["kind"] == "DaemonSet" {
					patch("DaemonSet", object{"metadata": object{"name": at(o, "metadata")["name"], "labels": object{"gone": node}}})
				}
			}
		}
	}
}

func (g *generator) named(kind string, o object) object {
	o["kind"] = kind
	return o
}

// edits are changes of a pod's template, of its containers, and of owners.
var (
	ofTemplate = []string{"{annotations: {checksum/config: <'1';'2'>}}", "{labels: {version: <v1;v2>}}"}
	ofPod      = []string{
		"{nodeSelector: {topology.kubernetes.io/zone: <x;w;z>}}", "{terminationGracePeriodSeconds: <0;7>}", "{volumes: [{name: c, configMap: {name: <one;two>}}]}",
		"{tolerations: [{key: <gpu;team>, operator: Exists}]}", "{hostNetwork: true}", "{dnsPolicy: Default}", "{priorityClassName: p1}", "{securityContext: {runAsUser: <1..3>}}",
	}
	ofContainer = []string{
		"{env: [{name: A, value: <'1';'2'>}]}", "{image: 'c:<2;3>'}", "{args: [<a;b>]}", "{resources: {requests: {cpu: <1..60>00m}}}", "{resources: {requests: {cpu: <1..9>00m}, limits: {cpu: <9..12>00m}}}",
		"{readinessProbe: {httpGet: {path: /<a;b>, port: 80}, periodSeconds: <1..5>}}", "{ports: [{containerPort: <80..83>}]}", "{ports: [{containerPort: 80, hostPort: <8080;8081>}]}",
	}
	ofOwner = []string{
		"{replicas: <0..6>}", "{replicas: <0..6>}", "{selector: {matchLabels: {app: other}}}", "{minReadySeconds: <0;1>}", "{podManagementPolicy: Parallel}",
		"{paused: <true;false>}", "{updateStrategy: {type: OnDelete}}", "{updateStrategy: {rollingUpdate: {partition: <0..3>}}}", "{strategy: {type: Recreate}}",
		"{strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}}", "{parallelism: <0..4>}", "{suspend: <true;false>}", "{revisionHistoryLimit: <0;2>}", "{serviceName: another}",
	}
)

// others are manifests of what makes no pods.
var others = []string{
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: p1}, value: <1..2000>}",
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: all}, value: <1..9>00, globalDefault: true}",
	"{apiVersion: v1, kind: ResourceQuota, metadata: {name: quota, namespace: default}, spec: {hard: {<pods: '<2..9>';requests.cpu: '<2..9>'>}}}",
	"{apiVersion: v1, kind: LimitRange, metadata: {name: limits, namespace: default}, spec: {limits: [{type: Container, defaultRequest: {cpu: <1..9>00m}}]}}",
	"{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {pod-security.kubernetes.io/enforce: <baseline;restricted>}}}",
	"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: old0, namespace: default}, spec: {maxUnavailable: <0..2>, selector: {matchLabels: {app: <old0;old1>}}}}",
}

// otherwise is a manifest with one to three changes, or the same one again.
func (g *generator) otherwise(manifest object) object {
	o := copied(manifest)
	spec := at(o, "spec")
	template := o
	if o["kind"] != "Pod" {
		template = at(spec, "template")
	}
	for range g.IntN(4) {
		switch pick(g, "template", "pod", "container", "container", "owner", "label") {
		case "template":
			for field, value := range g.parse(pick(g, ofTemplate...)) {
				maps.Copy(at(template, "metadata", field), value.(object))
			}
		case "pod":
			maps.Copy(at(template, "spec"), g.parse(pick(g, ofPod...)))
		case "container":
			maps.Copy(at(template, "spec")["containers"].(list)[0].(object), g.parse(pick(g, ofContainer...)))
		case "label":
			at(o, "metadata", "labels")["team"] = pick(g, "a", "b")
		case "owner":
			maps.Copy(spec, g.fieldsOf(o["kind"].(string)))
		}
	}
	return o
}

// fieldsOf is a change of fields that a kind has.
func (g *generator) fieldsOf(kind string) object {
	has := map[string]string{
		"Deployment": "replicas selector minReadySeconds paused strategy revisionHistoryLimit", "StatefulSet": "replicas selector minReadySeconds podManagementPolicy updateStrategy revisionHistoryLimit serviceName",
		"DaemonSet": "selector minReadySeconds revisionHistoryLimit", "ReplicaSet": "replicas selector minReadySeconds", "Job": "parallelism suspend",
	}
	var fields []object
	for _, text := range ofOwner {
		o := g.parse(text)
		for field := range o {
			if slices.Contains(strings.Fields(has[kind]), field) {
				fields = append(fields, o)
			}
		}
	}
	if len(fields) == 0 {
		return object{}
	}
	return pick(g, fields...)
}
