package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Generate makes the case of a seed: two to six nodes with workloads, and a change.
func Generate(seed uint64) *Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), Case: &Case{object{"config": "native"}, object{}, object{}}}
	for i := range 2 + g.IntN(5) {
		g.node(i, g.cluster)
	}
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
	return g.Case
}

type generator struct {
	*rand.Rand
	*Case
	nodes      []*node
	pods       []string    // that have a node
	owned      []string    // pods that are recreated
	owners     [][2]string // of them: kind and name
	apps       []string
	priorities int
	volumes    int
}

// node is how much room is left on a node, in tenths of CPUs.
type node struct {
	name, zone string
	cpu, pods  int
	ports      []int
	labels     object
	taints     list
}

// likely is true in so many of ten cases.
func (g *generator) likely(ofTen int) bool { return g.IntN(10) < ofTen }

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func add(to object, kind string, o object) {
	all, _ := to[kind].(list)
	to[kind] = append(all, o)
}

func (g *generator) node(i int, in object) {
	n := &node{name: string(rune('a' + i)), zone: pick(g, "x", "y", "z"), cpu: 10 * (1 + g.IntN(5)), pods: 2 + g.IntN(8)}
	n.labels = object{"kubernetes.io/hostname": n.name, "topology.kubernetes.io/zone": n.zone}
	if g.likely(5) {
		n.labels["disk"] = pick(g, "ssd", "hdd")
	}
	if g.likely(2) {
		n.taints = list{g.taint(pick(g, "NoSchedule", "PreferNoSchedule"))}
	}
	spec := object{}
	if len(n.taints) > 0 {
		spec["taints"] = n.taints
	}
	if g.likely(1) {
		spec["unschedulable"] = true
	}
	g.nodes = append(g.nodes, n)
	add(in, "nodes", object{
		"metadata": object{"name": n.name, "labels": copied(n.labels)}, "spec": spec,
		"status": object{"allocatable": g.room(n.cpu, n.pods)},
	})
}

func (g *generator) room(cpu, pods int) object {
	room := object{"cpu": cpus(cpu), "memory": fmt.Sprintf("%dGi", 2+g.IntN(8)), "pods": fmt.Sprint(pods)}
	if g.likely(4) {
		room["example.com/gpu"] = fmt.Sprint(1 + g.IntN(2))
	}
	return room
}

func cpus(tenths int) string { return fmt.Sprintf("%dm", 100*tenths) }

func (g *generator) taint(effect string) object {
	return object{"key": pick(g, "gpu", "team"), "value": pick(g, "x", "y"), "effect": effect}
}

// priority is a class of its own for each workload: of two that want the same room, one is first.
func (g *generator) priority() string {
	g.priorities++
	name := fmt.Sprintf("p%d", g.priorities)
	class := object{"metadata": object{"name": name}, "value": 100*g.IntN(20) + g.priorities}
	if g.likely(2) {
		class["preemptionPolicy"] = "Never"
	}
	add(g.cluster, "priorityClasses", class)
	return name
}

// template is the metadata and the spec of the pods of an app.
func (g *generator) template(app string) object {
	g.apps = append(g.apps, app)
	requests := object{}
	if g.likely(9) {
		requests["cpu"] = cpus(1 + g.IntN(25))
	}
	if g.likely(3) {
		requests["memory"] = fmt.Sprintf("%dMi", 256*(1+g.IntN(12)))
	}
	container := object{"name": "c", "image": "c", "resources": object{"requests": requests}}
	if g.likely(1) {
		container["ports"] = list{object{"containerPort": 80, "hostPort": 8080 + g.IntN(2)}}
	}
	spec := object{"containers": list{container}, "priorityClassName": g.priority()}
	metadata := object{"labels": object{"app": app}}
	if g.likely(2) {
		metadata["annotations"] = g.annotations()
	}
	for _, rule := range []func(app string, spec object){g.selector, g.tolerations, g.affinity, g.antiAffinity, g.spread, g.nodeAffinity, g.initContainer, g.device, g.overhead} {
		if g.likely(2) {
			rule(app, spec)
		}
	}
	return object{"metadata": metadata, "spec": spec}
}

func (g *generator) annotations() object {
	key := pick(g, "scheduler.wasmkwokwizardry.io/regex", "scheduler.wasmkwokwizardry.io/regex-exclude", "scheduler.wasmkwokwizardry.io/regex-prefer")
	return object{key: pick(g, "^[ab]$", "^[c-f]$", "a|c", "[^a]", "nothing", "b")}
}

func (g *generator) selector(_ string, spec object) {
	if g.likely(5) {
		spec["nodeSelector"] = object{"disk": pick(g, "ssd", "hdd")}
	} else {
		spec["nodeSelector"] = object{"topology.kubernetes.io/zone": pick(g, "x", "y", "z")}
	}
}

func (g *generator) tolerations(_ string, spec object) {
	t := object{"key": pick(g, "gpu", "team"), "operator": "Exists"}
	if g.likely(5) {
		t = object{"key": t["key"], "value": pick(g, "x", "y"), "effect": "NoSchedule"}
	} else if g.likely(5) {
		t["effect"] = "NoExecute"
		t["tolerationSeconds"] = 1
	}
	spec["tolerations"] = list{t}
}

func (g *generator) nodeAffinity(_ string, spec object) {
	term := object{"matchExpressions": list{pick(g,
		object{"key": "disk", "operator": pick(g, "Exists", "DoesNotExist")},
		object{"key": "topology.kubernetes.io/zone", "operator": pick(g, "In", "NotIn"), "values": list{pick(g, "x", "y"), "z"}},
	)}}
	if g.likely(6) {
		affinity(spec)["nodeAffinity"] = object{"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": list{term}}}
	} else {
		affinity(spec)["nodeAffinity"] = object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{"weight": 50, "preference": term}}}
	}
}

func affinity(spec object) object {
	if spec["affinity"] == nil {
		spec["affinity"] = object{}
	}
	return spec["affinity"].(object)
}

func (g *generator) affinity(_ string, spec object) {
	g.podAffinity(spec, "podAffinity", pick(g, g.apps...))
}

func (g *generator) antiAffinity(app string, spec object) {
	g.podAffinity(spec, "podAntiAffinity", pick(g, append(slices.Clone(g.apps), app, app)...))
}

func (g *generator) podAffinity(spec object, kind, app string) {
	term := object{"topologyKey": g.topology(), "labelSelector": object{"matchLabels": object{"app": app}}}
	if g.likely(7) {
		affinity(spec)[kind] = object{"requiredDuringSchedulingIgnoredDuringExecution": list{term}}
	} else {
		affinity(spec)[kind] = object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{"weight": 100, "podAffinityTerm": term}}}
	}
}

func (g *generator) topology() string {
	return pick(g, "kubernetes.io/hostname", "topology.kubernetes.io/zone")
}

func (g *generator) spread(app string, spec object) {
	constraint := object{
		"maxSkew": 1 + g.IntN(2), "topologyKey": g.topology(), "whenUnsatisfiable": pick(g, "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"),
		"labelSelector": object{"matchLabels": object{"app": app}},
	}
	if g.likely(3) {
		constraint["nodeTaintsPolicy"] = "Honor"
	}
	if g.likely(2) {
		constraint["nodeAffinityPolicy"] = "Ignore"
	}
	if g.likely(2) && constraint["whenUnsatisfiable"] == "DoNotSchedule" {
		constraint["minDomains"] = 2 + g.IntN(2)
	}
	if g.likely(2) {
		constraint["matchLabelKeys"] = list{"pod-template-hash"}
	}
	spec["topologySpreadConstraints"] = list{constraint}
}

func (g *generator) initContainer(_ string, spec object) {
	spec["initContainers"] = list{object{"name": "i", "image": "c", "resources": object{"requests": object{"cpu": cpus(5 + g.IntN(25))}}}}
}

// device requests an extended resource, which some nodes have.
func (g *generator) device(_ string, spec object) {
	resources := spec["containers"].(list)[0].(object)["resources"].(object)
	resources["requests"].(object)["example.com/gpu"] = "1"
	resources["limits"] = object{"example.com/gpu": "1"}
}

// overhead is of a sandbox, or of a sidecar.
func (g *generator) overhead(_ string, spec object) {
	if g.likely(5) {
		if g.cluster["runtimeClasses"] == nil {
			add(g.cluster, "runtimeClasses", object{"metadata": object{"name": "box"}, "handler": "box", "overhead": object{"podFixed": object{"cpu": "300m"}}})
		}
		spec["runtimeClassName"] = "box"
		spec["overhead"] = object{"cpu": "300m"}
		return
	}
	sidecar := object{"name": "s", "image": "c", "restartPolicy": "Always", "resources": object{"requests": object{"cpu": cpus(1 + g.IntN(10))}}}
	spec["initContainers"] = append(asList(spec["initContainers"]), sidecar)
}

// claim gives a pod a claim: of a volume in a zone, or of one that is made for the pod's node.
func (g *generator) claim(spec object, in object) {
	g.volumes++
	name := fmt.Sprintf("data%d", g.volumes)
	claim := object{"accessModes": list{"ReadWriteOnce"}, "storageClassName": "late", "resources": object{"requests": object{"storage": "1Gi"}}}
	if g.volumes == 1 {
		class := object{"metadata": object{"name": "late"}, "provisioner": "disks.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
		if g.likely(3) {
			class["allowedTopologies"] = list{object{"matchLabelExpressions": list{object{"key": "topology.kubernetes.io/zone", "values": list{pick(g, "x", "y", "z")}}}}}
		}
		add(g.cluster, "storageClasses", class)
	}
	if g.likely(5) {
		claim["storageClassName"] = "none"
		add(g.cluster, "pvs", object{"metadata": object{"name": name}, "status": object{"phase": "Available"}, "spec": object{
			"capacity": object{"storage": "1Gi"}, "accessModes": list{"ReadWriteOnce"}, "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "none",
			"csi": object{"driver": "disks.example.com", "volumeHandle": name}, "claimRef": object{"namespace": "default", "name": name},
			"nodeAffinity": object{"required": object{"nodeSelectorTerms": list{object{"matchExpressions": list{
				object{"key": "topology.kubernetes.io/zone", "operator": "In", "values": list{pick(g, "x", "y", "z")}},
			}}}}},
		}})
	}
	add(in, "pvcs", object{"metadata": object{"name": name}, "spec": claim})
	spec["volumes"] = list{object{"name": "data", "persistentVolumeClaim": object{"claimName": name}}}
}

// place finds a node with room for a pod, or none. Its other rules need not hold: they do not for pods that run.
func (g *generator) place(spec object) *node {
	container := spec["containers"].(list)[0].(object)
	cpu, port := 0, 0
	for _, of := range append(list{container}, asList(spec["initContainers"])...) {
		var tenths int
		text, _ := of.(object)["resources"].(object)["requests"].(object)["cpu"].(string)
		fmt.Sscanf(text, "%d00m", &tenths)
		cpu = max(cpu, tenths)
	}
	ports := asList(container["ports"])
	if len(ports) > 0 {
		port = ports[0].(object)["hostPort"].(int)
	}
	for _, i := range g.Perm(len(g.nodes)) {
		n := g.nodes[i]
		if n.cpu >= cpu && n.pods > 0 && (port == 0 || !slices.Contains(n.ports, port)) {
			n.cpu -= cpu
			n.pods--
			n.ports = append(n.ports, port)
			return n
		}
	}
	return nil
}

func asList(value any) list {
	all, _ := value.(list)
	return all
}

func (g *generator) barePod(name string, in object, placed bool) {
	pod := g.template(name)
	metadata, spec := pod["metadata"].(object), pod["spec"].(object)
	metadata["name"] = name
	if placed {
		n := g.place(spec)
		if n == nil {
			return
		}
		spec["nodeName"] = n.name
		g.pods = append(g.pods, name)
	} else if g.likely(4) {
		g.claim(spec, in)
	}
	add(in, "pods", pod)
}

// workload adds an owner of pods, with the pods themselves if these run.
func (g *generator) workload(name string, in object, running bool) {
	kind := pick(g, "Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
	if running && (kind == "DaemonSet" || kind == "Job") { // whose pods do not stay as they are
		kind = "ReplicaSet"
	}
	template, replicas := g.template(name), 1+g.IntN(4)
	spec := object{"replicas": replicas, "selector": object{"matchLabels": object{"app": name}}, "template": template}
	owner := object{"metadata": object{"name": name, "uid": name}, "spec": spec}
	switch kind {
	case "StatefulSet":
		spec["serviceName"] = name
		spec["updateStrategy"] = object{"type": "OnDelete"}
		if g.likely(3) {
			spec["podManagementPolicy"] = "Parallel"
		}
	case "DaemonSet":
		delete(spec, "replicas")
		spec["updateStrategy"] = object{"type": "OnDelete"}
	case "Job":
		owner["spec"] = object{"parallelism": replicas, "completions": replicas, "template": template}
		template["spec"].(object)["restartPolicy"] = "Never"
		annotate(template, "pod-complete.stage.kwok.x-k8s.io/delay", "24h") // or they end at once
	}
	if !running {
		add(in, map[string]string{"Deployment": "deployments", "ReplicaSet": "replicaSets", "StatefulSet": "statefulSets", "DaemonSet": "daemonSets", "Job": "jobs"}[kind], owner)
		return
	}
	owned := func(name, kind, owner string) object {
		return object{"name": name, "ownerReferences": list{object{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": true}}}
	}
	ownedBy := name
	deployment := copied(owner)
	if kind == "Deployment" {
		kind, ownedBy = "ReplicaSet", name+"-1"
		owner["metadata"] = owned(ownedBy, "Deployment", name)
		owner["metadata"].(object)["uid"] = ownedBy
		owner["metadata"].(object)["annotations"] = object{"deployment.kubernetes.io/revision": "1"}
		owner["metadata"].(object)["labels"] = object{"app": name, "pod-template-hash": "1"}
		template["metadata"].(object)["labels"].(object)["pod-template-hash"] = "1"
		spec["selector"].(object)["matchLabels"].(object)["pod-template-hash"] = "1"
	}
	var placed []object
	for i := range replicas {
		n := g.place(template["spec"].(object))
		if n == nil {
			break
		}
		pod := copied(template)
		metadata := owned(fmt.Sprintf("%s-%d", ownedBy, i), kind, ownedBy)
		metadata["labels"] = pod["metadata"].(object)["labels"]
		annotations := pod["metadata"].(object)["annotations"]
		if annotations != nil {
			metadata["annotations"] = annotations
		}
		pod["metadata"] = metadata
		pod["spec"].(object)["nodeName"] = n.name
		placed = append(placed, pod)
		g.owned = append(g.owned, metadata["name"].(string))
	}
	if len(placed) == 0 {
		return
	}
	spec["replicas"] = len(placed)
	if ownedBy == name {
		g.owners = append(g.owners, [2]string{kind, name})
	} else {
		g.owners = append(g.owners, [2]string{"Deployment", name})
		deployment["spec"].(object)["replicas"] = len(placed)
		add(in, "deployments", deployment)
	}
	add(in, map[string]string{"ReplicaSet": "replicaSets", "StatefulSet": "statefulSets"}[kind], owner)
	for _, pod := range placed {
		add(in, "pods", pod)
	}
}

func annotate(template object, key, value string) {
	metadata := template["metadata"].(object)
	if metadata["annotations"] == nil {
		metadata["annotations"] = object{}
	}
	metadata["annotations"].(object)[key] = value
}

func (g *generator) budget() {
	if len(g.apps) == 0 || g.likely(6) {
		return
	}
	app := pick(g, g.apps...)
	add(g.cluster, "podDisruptionBudgets", object{
		"metadata": object{"name": app},
		"spec":     object{pick(g, "minAvailable", "maxUnavailable"): g.IntN(3), "selector": object{"matchLabels": object{"app": app}}},
	})
}

// policies are of the namespace: for pods that come later.
func (g *generator) policies() {
	if g.likely(1) {
		add(g.cluster, "limitRanges", object{"metadata": object{"name": "limits"}, "spec": object{"limits": list{
			object{"type": "Container", "defaultRequest": object{"cpu": cpus(1 + g.IntN(15))}, "max": object{"cpu": "2"}},
		}}})
	}
	if g.likely(1) {
		add(g.cluster, "resourceQuotas", object{"metadata": object{"name": "quota"}, "spec": object{"hard": object{"pods": fmt.Sprint(2 + g.IntN(12))}}})
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
		return
	}
	g.change["delete"] = list{"node " + g.aNode().name}
}

func (g *generator) askEvict() {
	all := slices.Concat(g.pods, g.owned)
	if len(all) > 0 {
		g.change["evict"] = list{pick(g, all...)}
	}
}

// askScale changes how many pods an owner has, or what they request.
func (g *generator) askScale() {
	if len(g.owners) == 0 {
		return
	}
	owner := pick(g, g.owners...)
	spec := object{"replicas": g.IntN(6)}
	if owner[0] == "Deployment" && g.likely(5) {
		spec = object{"template": object{"metadata": object{"labels": object{"release": "new"}}}}
	}
	g.patch(object{"kind": owner[0], "metadata": object{"name": owner[1]}, "spec": spec})
}

// askPod changes the labels of a pod, which rules of others select: its workload loses it.
func (g *generator) askPod() {
	all := slices.Concat(g.pods, g.owned)
	if len(all) > 0 {
		g.patch(object{"kind": "Pod", "metadata": object{"name": pick(g, all...), "labels": object{"app": pick(g, g.apps...)}}})
	}
}

// askNodes adds a node.
func (g *generator) askNodes() {
	if len(g.made) == 0 {
		g.node(len(g.cluster["nodes"].(list)), g.made)
	}
}

func (g *generator) patch(patch object) { g.change["patch"] = append(asList(g.change["patch"]), patch) }

// askNode changes a node: a cordon, a taint, a label, or its room.
func (g *generator) askNode() {
	n := g.aNode()
	patch := object{"kind": "Node", "metadata": object{"name": n.name}}
	switch g.IntN(6) {
	case 5:
		patch["status"] = object{"conditions": list{object{"type": "Ready", "status": "False"}}}
	case 0:
		patch["spec"] = object{"unschedulable": pick[any](g, true, nil)}
	case 1:
		patch["spec"] = object{"taints": append(slices.Clone(n.taints), object{"key": "new", "effect": pick(g, "NoSchedule", "NoExecute")})}
	case 2:
		patch["spec"] = object{"taints": nil}
	case 3:
		patch["metadata"].(object)["labels"] = object{pick(g, "disk", "topology.kubernetes.io/zone"): pick(g, "ssd", "x", "y")}
	case 4:
		patch["status"] = object{"allocatable": g.room(10*(1+g.IntN(8)), 2+g.IntN(10))}
	}
	g.patch(patch)
}
