package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"sigs.k8s.io/yaml"
)

// Generate makes the case of a seed: two to six nodes with workloads, and a change.
func Generate(seed uint64) Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), change: object{"config": "native"}, cluster: object{}, made: object{}}
	for i := range 2 + g.IntN(5) {
		g.node(i, g.cluster)
	}
	g.storage()
	for i := range 1 + g.IntN(3) {
		g.workload(fmt.Sprintf("old%d", i), g.cluster, true)
	}
	for i := range g.IntN(4) {
		g.barePod(fmt.Sprintf("bare%d", i), g.cluster, true)
	}
	if g.likely(4) { // one: in which order several come is for chance
		g.barePod("pending", g.cluster, false)
	}
	g.budget()
	g.policies()
	g.ask()
	return Case{"change": g.change, "cluster": g.cluster, "made": g.made}
}

type generator struct {
	*rand.Rand
	change, cluster, made object

	nodes      []*node
	pods       []string    // that have a node
	owned      []string    // pods that are recreated
	owners     [][2]string // of them: kind and name
	apps       []string
	priorities int
}

// node is how much room is left on a node.
type node struct {
	name            string
	milliCPUs, pods int
	ports           []v1.ContainerPort
	taints          list
}

// likely is true in so many of ten cases.
func (g *generator) likely(ofTen int) bool { return g.IntN(10) < ofTen }

// maybe sets a field in so many of ten cases.
func (g *generator) maybe(ofTen int, o object, field string, value any) {
	if g.likely(ofTen) {
		o[field] = value
	}
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func add(to object, kind string, o object) { to[kind] = append(asList(to[kind]), o) }

func asList(value any) list {
	all, _ := value.(list)
	return all
}

// at is the object at a place in another one. It is made if it is not there.
func at(o object, path ...string) object {
	for _, field := range path {
		if o[field] == nil {
			o[field] = object{}
		}
		o = o[field].(object)
	}
	return o
}

// parse makes an object of YAML with values in it.
func parse(text string, values ...any) (o object) {
	if err := yaml.Unmarshal(fmt.Appendf(nil, text, values...), &o); err != nil {
		panic(err) // it is a text of this file
	}
	return o
}

func (g *generator) zone() string { return pick(g, "x", "w", "z") }

func (g *generator) disk() string { return pick(g, "ssd", "hdd") }

func (g *generator) topology() string {
	return pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone")
}

// cpus are some processors, in tenths: from one on.
func (g *generator) cpus(upTo int) string { return fmt.Sprintf("%dm", 100*(1+g.IntN(upTo))) }

func (g *generator) node(i int, in object) {
	n := &node{name: string(rune('a' + i)), milliCPUs: 1000 * (1 + g.IntN(5)), pods: 2 + g.IntN(8)}
	o := parse("{metadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %[2]s}}, spec: {}}", n.name, g.zone())
	g.maybe(5, at(o, "metadata", "labels"), "disk", g.disk())
	if g.likely(2) {
		n.taints = list{parse("{key: %s, value: %s, effect: %s}", pick(g, "gpu", "team"), pick(g, "x", "w"), pick(g, "NoSchedule", "PreferNoSchedule"))}
		at(o, "spec")["taints"] = n.taints
	}
	g.maybe(1, at(o, "spec"), "unschedulable", true)
	at(o, "status")["allocatable"] = g.room(n.milliCPUs, n.pods)
	g.nodes = append(g.nodes, n)
	add(in, "nodes", o)
}

func (g *generator) room(milliCPUs, pods int) object {
	room := object{"cpu": fmt.Sprintf("%dm", milliCPUs), "memory": fmt.Sprintf("%dGi", 2+g.IntN(8)), "pods": fmt.Sprint(pods)}
	g.maybe(4, room, "example.com/gpu", fmt.Sprint(1+g.IntN(2)))
	return room
}

// priority is a class of its own for each workload: of two that want the same room, one is first.
func (g *generator) priority() string {
	g.priorities++
	name := fmt.Sprintf("p%d", g.priorities)
	class := object{"metadata": object{"name": name}, "value": 100*g.IntN(20) + g.priorities}
	g.maybe(2, class, "preemptionPolicy", "Never")
	add(g.cluster, "priorityClasses", class)
	return name
}

// template is the metadata and the spec of the pods of an app.
func (g *generator) template(app string) object {
	g.apps = append(g.apps, app)
	requests := object{}
	g.maybe(9, requests, "cpu", g.cpus(25))
	g.maybe(3, requests, "memory", fmt.Sprintf("%dMi", 256*(1+g.IntN(12))))
	container := object{"name": "c", "image": "c", "resources": object{"requests": requests}}
	g.maybe(1, container, "ports", list{object{"containerPort": 80, "hostPort": 8080 + g.IntN(2)}})
	spec := object{"containers": list{container}, "priorityClassName": g.priority()}
	metadata := object{"labels": object{"app": app}}
	g.maybe(2, metadata, "annotations", g.annotations())
	for _, rule := range []func(app string, spec object){g.selector, g.tolerations, g.affinity, g.antiAffinity, g.spread, g.nodeAffinity, g.initContainer, g.device, g.overhead} {
		if g.likely(2) {
			rule(app, spec)
		}
	}
	return object{"metadata": metadata, "spec": spec}
}

func (g *generator) annotations() object {
	key := "scheduler.wasmkwokwizardry.io/regex" + pick(g, "", "-exclude", "-prefer")
	return object{key: pick(g, "^[ab]$", "^[c-f]$", "a|c", "[^a]", "nothing", "b")}
}

func (g *generator) selector(_ string, spec object) {
	spec["nodeSelector"] = pick(g, object{"disk": g.disk()}, object{"topology.kubernetes.io/zone": g.zone()})
}

func (g *generator) tolerations(_ string, spec object) {
	t := object{"key": pick(g, "gpu", "team"), "operator": "Exists"}
	if g.likely(5) {
		t = object{"key": t["key"], "value": pick(g, "x", "w"), "effect": "NoSchedule"}
	} else if g.likely(5) {
		t["effect"] = "NoExecute"
		t["tolerationSeconds"] = 1
	}
	spec["tolerations"] = list{t}
}

// required makes a rule of affinity a required one in so many of ten cases, and else one that is preferred.
func (g *generator) required(ofTen int, rules object, required any, preferred object) {
	const when = "DuringSchedulingIgnoredDuringExecution"
	if g.likely(ofTen) {
		rules["required"+when] = required
	} else {
		rules["preferred"+when] = list{preferred}
	}
}

func (g *generator) nodeAffinity(_ string, spec object) {
	term := object{"matchExpressions": list{pick(g,
		object{"key": "disk", "operator": pick(g, "Exists", "DoesNotExist")},
		object{"key": "topology.kubernetes.io/zone", "operator": pick(g, "In", "NotIn"), "values": list{pick(g, "x", "w"), "z"}},
	)}}
	g.required(6, at(spec, "affinity", "nodeAffinity"), object{"nodeSelectorTerms": list{term}}, object{"weight": 50, "preference": term})
}

func (g *generator) affinity(_ string, spec object) {
	g.podAffinity(spec, "podAffinity", pick(g, g.apps...))
}

func (g *generator) antiAffinity(app string, spec object) {
	g.podAffinity(spec, "podAntiAffinity", pick(g, append(slices.Clone(g.apps), app, app)...))
}

func (g *generator) podAffinity(spec object, kind, app string) {
	term := parse("{topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}", g.topology(), app)
	g.required(7, at(spec, "affinity", kind), list{term}, object{"weight": 100, "podAffinityTerm": term})
}

func (g *generator) spread(app string, spec object) {
	constraint := parse("{maxSkew: %d, topologyKey: %s, whenUnsatisfiable: %s, labelSelector: {matchLabels: {app: %s}}}",
		1+g.IntN(2), g.topology(), pick(g, "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"), app)
	g.maybe(3, constraint, "nodeTaintsPolicy", "Honor")
	g.maybe(2, constraint, "nodeAffinityPolicy", "Ignore")
	if constraint["whenUnsatisfiable"] == "DoNotSchedule" {
		g.maybe(2, constraint, "minDomains", 2+g.IntN(2))
	}
	g.maybe(2, constraint, "matchLabelKeys", list{"pod-template-hash"})
	spec["topologySpreadConstraints"] = list{constraint}
}

func (g *generator) initContainer(_ string, spec object) {
	spec["initContainers"] = list{parse("{name: i, image: c, resources: {requests: {cpu: %s}}}", g.cpus(30))}
}

// device requests an extended resource, which some nodes have.
func (g *generator) device(_ string, spec object) {
	resources := at(spec["containers"].(list)[0].(object), "resources")
	at(resources, "requests")["example.com/gpu"] = "1"
	at(resources, "limits")["example.com/gpu"] = "1"
}

// overhead is of a sandbox, or of a sidecar.
func (g *generator) overhead(_ string, spec object) {
	if g.likely(5) {
		g.cluster["runtimeClasses"] = list{parse("{metadata: {name: box}, handler: box, overhead: {podFixed: {cpu: 300m}}}")}
		spec["runtimeClassName"] = "box"
		spec["overhead"] = object{"cpu": "300m"}
		return
	}
	add(spec, "initContainers", parse("{name: s, image: c, restartPolicy: Always, resources: {requests: {cpu: %s}}}", g.cpus(10)))
}

// storage is what claims need: classes whose volumes are made for the pod, or at once.
func (g *generator) storage() {
	late := parse("{metadata: {name: late}, provisioner: disks.example.com, volumeBindingMode: WaitForFirstConsumer}")
	g.maybe(3, late, "allowedTopologies", list{parse("{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [%s]}]}", g.zone())})
	add(g.cluster, "storageClasses", late)
	add(g.cluster, "storageClasses", parse("{metadata: {name: now}, provisioner: disks.example.com}"))
}

const claim = "{accessModes: [ReadWriteOnce], storageClassName: %s, resources: {requests: {storage: 1Gi}}}"

// claim gives a pod a claim: of a volume in a zone, or of one that is made.
func (g *generator) claim(spec object, in object) {
	class := pick(g, "late", "now", "none", "none")
	if class == "none" {
		add(g.cluster, "pvs", parse(`
metadata: {name: data}
status: {phase: Available}
spec:
  {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Retain, storageClassName: none,
  csi: {driver: disks.example.com, volumeHandle: data}, claimRef: {namespace: default, name: data},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [%s]}]}]}}}`,
			g.zone()))
	}
	add(in, "pvcs", object{"metadata": object{"name": "data"}, "spec": parse(claim, class)})
	spec["volumes"] = list{parse("{name: data, persistentVolumeClaim: {claimName: data}}")}
}

// devices gives a pod a device by a template of claims. Some nodes have one or two.
func (g *generator) devices(spec object) {
	add(g.cluster, "deviceClasses", parse(`{metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}`))
	add(g.cluster, "resourceClaimTemplates", parse("{metadata: {name: gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}"))
	for _, n := range g.nodes {
		if g.likely(5) {
			add(g.cluster, "resourceSlices", parse("{metadata: {name: %[1]s}, spec: {driver: gpu.example.com, nodeName: %[1]s, pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}, devices: [%[2]s]}}",
				n.name, pick(g, "{name: one}", "{name: one}, {name: two}")))
		}
	}
	spec["resourceClaims"] = list{parse("{name: gpu, resourceClaimTemplateName: gpu}")}
}

// place finds a node with room for a pod, or none. Its other rules need not hold: they do not for pods that run.
func (g *generator) place(pod object) *node {
	var is v1.Pod
	convert(pod, &is)
	requests := resource.PodRequests(&is, resource.PodResourcesOptions{})
	cpu := int(requests.Cpu().MilliValue())
	ports := is.Spec.Containers[0].Ports
	for _, i := range g.Perm(len(g.nodes)) {
		n := g.nodes[i]
		if n.milliCPUs >= cpu && n.pods > 0 && (len(ports) == 0 || !slices.Contains(n.ports, ports[0])) {
			n.milliCPUs -= cpu
			n.pods--
			n.ports = append(n.ports, ports...)
			return n
		}
	}
	return nil
}

func (g *generator) barePod(name string, in object, placed bool) {
	pod := g.template(name)
	spec := at(pod, "spec")
	at(pod, "metadata")["name"] = name
	if placed {
		n := g.place(pod)
		if n == nil {
			return
		}
		spec["nodeName"] = n.name
		g.pods = append(g.pods, name)
	} else if name == "new" && g.likely(4) {
		g.claim(spec, in)
	} else if name == "new" && g.likely(3) {
		g.devices(spec)
	}
	add(in, "pods", pod)
}

// listOf is the field of a snapshot for the owners of a kind.
var listOf = map[string]string{
	"Deployment": "deployments", "ReplicaSet": "replicaSets", "StatefulSet": "statefulSets", "DaemonSet": "daemonSets", "Job": "jobs",
}

// workload adds an owner of pods, with the pods themselves if these run.
func (g *generator) workload(name string, in object, running bool) {
	kind := pick(g, "Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
	if running && (kind == "DaemonSet" || kind == "Job") { // whose pods do not stay as they are
		kind = "ReplicaSet"
	}
	template, replicas := g.template(name), 1+g.IntN(4)
	owner := parse("{metadata: {name: %[1]s, uid: %[1]s}, spec: {selector: {matchLabels: {app: %[1]s}}}}", name)
	spec := at(owner, "spec")
	spec["template"], spec["replicas"] = template, replicas
	switch kind {
	case "StatefulSet":
		spec["serviceName"] = name
		at(spec, "updateStrategy")["type"] = "OnDelete"
		g.maybe(3, spec, "podManagementPolicy", "Parallel")
		if !running {
			g.maybe(3, spec, "volumeClaimTemplates", list{object{"metadata": object{"name": "data"}, "spec": parse(claim, pick(g, "late", "now"))}})
		}
	case "DaemonSet":
		delete(spec, "replicas")
		at(spec, "updateStrategy")["type"] = "OnDelete"
	case "Job":
		owner["spec"] = object{"parallelism": replicas, "completions": replicas, "template": template}
		at(template, "spec")["restartPolicy"] = "Never"
		at(template, "metadata", "annotations")["pod-complete.stage.kwok.x-k8s.io/delay"] = "24h" // or they end at once
	}
	if running {
		g.run(kind, owner, replicas)
		return
	}
	if g.likely(2) {
		g.devices(at(template, "spec"))
	}
	add(in, listOf[kind], owner)
}

// run adds an owner with as many of its pods as there is room for.
func (g *generator) run(kind string, owner object, replicas int) {
	name := at(owner, "metadata")["name"].(string)
	top := [2]string{kind, name}
	deployment := copied(owner)
	if kind == "Deployment" {
		kind = "ReplicaSet"
		at(owner, "metadata")["annotations"] = object{"deployment.kubernetes.io/revision": "1"}
		at(owner, "metadata")["labels"] = object{"app": name, "pod-template-hash": "1"}
		at(owner, "spec", "template", "metadata", "labels")["pod-template-hash"] = "1"
		at(owner, "spec", "selector", "matchLabels")["pod-template-hash"] = "1"
		at(owner, "metadata")["ownerReferences"] = reference(top[0], name)
		name += "-1"
		at(owner, "metadata")["name"], at(owner, "metadata")["uid"] = name, name
	}
	template := at(owner, "spec", "template")
	placed := 0
	for ; placed < replicas; placed++ {
		n := g.place(template)
		if n == nil {
			break
		}
		pod := copied(template)
		at(pod, "metadata")["name"] = fmt.Sprintf("%s-%d", name, placed)
		at(pod, "metadata")["ownerReferences"] = reference(kind, name)
		at(pod, "spec")["nodeName"] = n.name
		add(g.cluster, "pods", pod)
		g.owned = append(g.owned, at(pod, "metadata")["name"].(string))
	}
	if placed == 0 {
		return
	}
	g.owners = append(g.owners, top)
	at(owner, "spec")["replicas"] = placed
	add(g.cluster, listOf[kind], owner)
	if top[0] == "Deployment" {
		at(deployment, "spec")["replicas"] = placed
		add(g.cluster, "deployments", deployment)
	}
}

func reference(kind, owner string) list {
	return list{parse("{apiVersion: apps/v1, kind: %s, name: %[2]s, uid: %[2]s, controller: true}", kind, owner)}
}

func (g *generator) budget() {
	if g.likely(6) {
		return
	}
	app := pick(g, g.apps...)
	add(g.cluster, "podDisruptionBudgets", parse("{metadata: {name: %[1]s}, spec: {%[2]s: %[3]d, selector: {matchLabels: {app: %[1]s}}}}",
		app, pick(g, "minAvailable", "maxUnavailable"), g.IntN(3)))
}

// policies are of the namespace: for pods that come later.
func (g *generator) policies() {
	if g.likely(1) {
		add(g.cluster, "limitRanges", parse("{metadata: {name: limits}, spec: {limits: [{type: Container, defaultRequest: {cpu: %s}, max: {cpu: '2'}}]}}", g.cpus(15)))
	}
	if g.likely(1) {
		add(g.cluster, "resourceQuotas", parse("{metadata: {name: quota}, spec: {hard: {pods: '%d'}}}", 2+g.IntN(12)))
	}
}

// ask makes the change: of one thing or two.
func (g *generator) ask() {
	asks := []func(){g.askNew, g.askNew, g.askNew, g.askDrain, g.askDelete, g.askEvict, g.askScale, g.askScale, g.askPod, g.askNode, g.askNode, g.askNodes}
	for range 1 + g.IntN(2) {
		pick(g, asks...)()
	}
	if len(g.change) == 1 && len(g.made) == 0 { // that was not possible
		g.askNew()
	}
}

// askNew makes a pod or a workload: of several it is left to chance whose pods are tried first.
func (g *generator) askNew() {
	if len(g.made) > 0 {
		return
	}
	if g.likely(4) {
		g.barePod("new", g.made, false)
	} else {
		g.workload("new", g.made, false)
	}
}

// askNodes adds a node.
func (g *generator) askNodes() {
	if len(g.made) == 0 {
		g.node(len(asList(g.cluster["nodes"])), g.made)
	}
}

// aNode is one that is not asked about yet.
func (g *generator) aNode() *node {
	i := g.IntN(len(g.nodes))
	n := g.nodes[i]
	if len(g.nodes) > 1 {
		g.nodes = slices.Delete(g.nodes, i, i+1)
	}
	return n
}

func (g *generator) askDrain() { g.change["drain"] = list{g.aNode().name} }

func (g *generator) askDelete() {
	if len(g.pods) > 0 && g.likely(6) {
		g.change["delete"] = list{"pod " + pick(g, g.pods...)}
	} else {
		g.change["delete"] = list{"node " + g.aNode().name}
	}
}

func (g *generator) askEvict() {
	all := slices.Concat(g.pods, g.owned)
	if len(all) > 0 {
		g.change["evict"] = list{pick(g, all...)}
	}
}

func (g *generator) patch(kind, name string, patch object) {
	patch["kind"] = kind
	at(patch, "metadata")["name"] = name
	g.change["patch"] = append(asList(g.change["patch"]), patch)
}

// askScale changes how many pods an owner has, or what they request.
func (g *generator) askScale() {
	if len(g.owners) == 0 {
		return
	}
	owner := pick(g, g.owners...)
	patch := parse("{spec: {replicas: %d}}", g.IntN(6))
	if owner[0] == "Deployment" && g.likely(5) {
		patch = parse("{spec: {template: {metadata: {labels: {release: new}}}}}")
	}
	g.patch(owner[0], owner[1], patch)
}

// askPod changes the labels of a pod, which rules of others select: its workload loses it.
func (g *generator) askPod() {
	all := slices.Concat(g.pods, g.owned)
	if len(all) > 0 {
		g.patch("Pod", pick(g, all...), parse("{metadata: {labels: {app: %s}}}", pick(g, g.apps...)))
	}
}

// askNode changes a node: its readiness, a cordon, a taint, a label, or its room.
func (g *generator) askNode() {
	n := g.aNode()
	g.patch("Node", n.name, pick(g,
		parse("{status: {conditions: [{type: Ready, status: 'False'}]}}"),
		object{"spec": object{"unschedulable": pick[any](g, true, nil)}},
		object{"spec": object{"taints": append(slices.Clone(n.taints), object{"key": "new", "effect": pick(g, "NoSchedule", "NoExecute")})}},
		object{"spec": object{"taints": nil}},
		object{"metadata": object{"labels": object{pick(g, "disk", "topology.kubernetes.io/zone"): pick(g, "ssd", "x", "w")}}},
		object{"status": object{"allocatable": g.room(1000*(1+g.IntN(8)), 2+g.IntN(10))}},
	))
}
