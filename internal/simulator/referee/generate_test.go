package referee_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	"sigs.k8s.io/yaml"
)

// generate makes the case of a seed: two to six nodes with workloads, and a change. Three of four are questions to a command.
func generate(seed uint64) huntCase {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), change: object{"config": "native"}, made: object{}}
	if seed%4 > 0 {
		return g.asking()
	}
	g.cluster = g.parse(policies)
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
	if g.likely(4) {
		add(g.cluster, "podDisruptionBudgets", g.parse("{metadata: {name: $app}, spec: {<minAvailable;maxUnavailable>: <0..2>, selector: {matchLabels: {app: $app}}}}", "$app", pick(g, g.apps...)))
	}
	g.ask()
	return huntCase{"change": g.change, "cluster": g.cluster, "made": g.made}
}

type generator struct {
	*rand.Rand
	change, cluster, made object

	nodes      []*nodeRoom
	pods       []string    // that have a node
	owned      []string    // pods that are recreated
	owners     [][2]string // of them: kind and name
	apps       []string
	priorities int
	applied    []object // manifests as they were applied last
	steps      list
}

// nodeRoom is how much room is left on a node.
type nodeRoom struct {
	name            string
	milliCPUs, pods int
	ports           []v1.ContainerPort
	taints          list
}

// likely is true in so many of ten cases.
func (g *generator) likely(ofTen int) bool { return g.IntN(10) < ofTen }

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

var (
	choice = regexp.MustCompile(`<[^<>]*>`)
	span   = regexp.MustCompile(`^<(\d+)\.\.(\d+)>$`)
)

// parse makes an object of YAML, in which <a;b> is either a or b, <1..9> is one of these numbers, and names are replaced.
func (g *generator) parse(text string, names ...string) (o object) {
	for choice.MatchString(text) {
		text = choice.ReplaceAllStringFunc(text, func(of string) string {
			numbers := span.FindStringSubmatch(of)
			if numbers == nil {
				return pick(g, strings.Split(of[1:len(of)-1], ";")...)
			}
			first, _ := strconv.Atoi(numbers[1]) // which are digits
			last, _ := strconv.Atoi(numbers[2])
			return strconv.Itoa(first + g.IntN(last-first+1))
		})
	}
	if err := yaml.Unmarshal([]byte(strings.NewReplacer(names...).Replace(text)), &o); err != nil {
		panic(err) // it is a text of this file
	}
	return o
}

// policies are what pods need: classes whose volumes are made for the pod, or at once, and devices. What is of the
// namespace is for pods that come later.
const policies = `
storageClasses:
- {metadata: {name: late}, provisioner: disks.example.com, volumeBindingMode: WaitForFirstConsumer,
   allowedTopologies: [<;;{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [<x;w;z>]}]}>]}
- {metadata: {name: now}, provisioner: disks.example.com}
runtimeClasses: [{metadata: {name: box}, handler: box, overhead: {podFixed: {cpu: 300m}}}]
limitRanges: [<;;;;;;;{metadata: {name: limits}, spec: {limits: [{type: Container, defaultRequest: {cpu: <1..15>00m}, max: {cpu: '2'}}]}}>]
resourceQuotas: [<;;;;;;;{metadata: {name: quota}, spec: {hard: {pods: '<2..13>'}}}>]
`

const room = "{cpu: $cpum, memory: <2..9>Gi, pods: '$pods'<;, example.com/gpu: '<1;2>'>}"

func (g *generator) node(i int, in object) {
	n := &nodeRoom{name: string(rune('a' + i)), milliCPUs: 1000 * (1 + g.IntN(5)), pods: 2 + g.IntN(8)}
	o := g.parse(`
metadata: {name: $name, labels: {kubernetes.io/hostname: $name, topology.kubernetes.io/zone: <x;w;z><;, disk: <ssd;hdd>>}}
spec: {taints: [<;;;;{key: <gpu;team>, value: <x;w>, effect: <NoSchedule;PreferNoSchedule>}>], unschedulable: <;;;;;;;true>}
status: {allocatable: `+room+`}
`, "$name", n.name, "$cpu", strconv.Itoa(n.milliCPUs), "$pods", strconv.Itoa(n.pods))
	n.taints = asList(at(o, "spec")["taints"])
	g.nodes = append(g.nodes, n)
	add(in, "nodes", o)
}

// priority is a class of its own for each workload: of two that want the same room, one is first.
func (g *generator) priority() string {
	g.priorities++
	name := fmt.Sprintf("p%d", g.priorities)
	class := g.parse("{metadata: {name: $name}, preemptionPolicy: <;;;;Never>}", "$name", name)
	class["value"] = 100*g.IntN(20) + g.priorities
	add(g.cluster, "priorityClasses", class)
	return name
}

const (
	requests  = "requests: {cpu: <<1..25>00m;<1..25>00m;<1..25>00m;0><;;, memory: <1..12>00Mi>"
	container = `
metadata: {labels: {app: $app}<;;;;, annotations: {scheduler.wasmkwokwizardry.io/regex<;-exclude;-prefer>: <'^[ab]$';'^[c-f]$';'a|c';'[^a]';nothing;b>}>}
spec:
  priorityClassName: $priority
  containers:
  - name: c
    image: c
    ports: [<;;;;;;;{containerPort: 80, hostPort: <8080;8081>}>]
    resources: {<` + requests + "};" + requests + "};" + requests + `};requests: {example.com/gpu: '1'}, limits: {example.com/gpu: '1'}>}
`
	required  = "requiredDuringSchedulingIgnoredDuringExecution: "
	preferred = "preferredDuringSchedulingIgnoredDuringExecution: "
	onNodes   = `{matchExpressions: [{<key: disk, operator: <Exists;DoesNotExist>;key: topology.kubernetes.io/zone, operator: <In;NotIn>, values: [<x;w>, z]>}]}`
	nearPods  = `{topologyKey: <kubernetes.io/hostname;topology.kubernetes.io/zone>, labelSelector: {matchLabels: {app: $near}}}`
	nearby    = "{<" + required + "[" + nearPods + "];" + required + "[" + nearPods + "];" + preferred + "[{weight: 100, podAffinityTerm: " + nearPods + "}]>}"
	initial   = "{name: i, image: c, resources: {requests: {cpu: <5..29>00m}}}"
	sidecar   = "{name: s, image: c, restartPolicy: Always, resources: {requests: {cpu: <1..10>00m}}}"
)

// rules are what a pod may have. Here $near is the app of other pods, or of its own.
var rules = []string{
	"nodeSelector: {<disk: <ssd;hdd>;topology.kubernetes.io/zone: <x;w;z>>}",
	"tolerations: [{key: <gpu;team>, <operator: Exists;value: <x;w>, effect: NoSchedule;operator: Exists, effect: NoExecute, tolerationSeconds: 1>}]",
	"affinity: {nodeAffinity: {<" + required + "{nodeSelectorTerms: [" + onNodes + "]};" + preferred + "[{weight: 50, preference: " + onNodes + "}]>}}",
	"affinity: {podAffinity: " + nearby + "}",
	"affinity: {podAntiAffinity: " + nearby + "}",
	`topologySpreadConstraints:
- {maxSkew: <1;2>, topologyKey: <kubernetes.io/hostname;topology.kubernetes.io/zone>, labelSelector: {matchLabels: {app: $app}},
   whenUnsatisfiable: <DoNotSchedule;DoNotSchedule<;, minDomains: <2;3>>;ScheduleAnyway><;;, nodeTaintsPolicy: Honor>
   <;;;, nodeAffinityPolicy: Ignore><;;;, matchLabelKeys: [pod-template-hash]>}`,
	"initContainers: [<" + initial + ";" + sidecar + ";" + initial + "," + sidecar + ">]",
	"{runtimeClassName: box, overhead: {cpu: 300m}}",
}

// template is the metadata and the spec of the pods of an app.
func (g *generator) template(app string) object {
	g.apps = append(g.apps, app)
	pod := g.parse(container, "$app", app, "$priority", g.priority())
	for _, rule := range rules {
		if g.likely(8) {
			continue
		}
		for field, value := range g.parse(rule, "$app", app, "$near", pick(g, append(slices.Clone(g.apps), app)...)) {
			if field == "affinity" {
				maps.Copy(at(pod, "spec", "affinity"), value.(object))
			} else {
				at(pod, "spec")[field] = value
			}
		}
	}
	return pod
}

const ofClaim = "{accessModes: [ReadWriteOnce], storageClassName: $class, resources: {requests: {storage: 1Gi}}}"

// claim gives a pod a claim: of a volume in a zone, or of one that is made.
func (g *generator) claim(pod, in object) {
	class := pick(g, "late", "now", "none", "none")
	if class == "none" {
		add(g.cluster, "pvs", g.parse(`
metadata: {name: data}
status: {phase: Available}
spec:
  {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], persistentVolumeReclaimPolicy: Retain, storageClassName: none,
  csi: {driver: disks.example.com, volumeHandle: data}, claimRef: {namespace: default, name: data},
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [<x;w;z>]}]}]}}}`))
	}
	add(in, "pvcs", g.parse("{metadata: {name: data}, spec: "+ofClaim+"}", "$class", class))
	at(pod, "spec")["volumes"] = list{g.parse("{name: data, persistentVolumeClaim: {claimName: data}}")}
}

// devices gives a pod a device by a template of claims. Some nodes have one or two.
func (g *generator) devices(pod object) {
	maps.Copy(g.cluster, g.parse(`
deviceClasses: [{metadata: {name: gpu}, spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}]
resourceClaimTemplates: [{metadata: {name: gpu}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}}]
`))
	for _, n := range g.nodes {
		if g.likely(5) {
			add(g.cluster, "resourceSlices", g.parse(`
metadata: {name: $node}
spec: {driver: gpu.example.com, nodeName: $node, pool: {name: $node, generation: 1, resourceSliceCount: 1}, devices: [{name: one}<;, {name: two}>]}
`, "$node", n.name))
		}
	}
	at(pod, "spec")["resourceClaims"] = list{g.parse("{name: gpu, resourceClaimTemplateName: gpu}")}
}

// place finds a node with room for a pod, or none. Its other rules need not hold: they do not for pods that run.
func (g *generator) place(pod object) *nodeRoom {
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
	at(pod, "metadata")["name"] = name
	if placed {
		n := g.place(pod)
		if n == nil {
			return
		}
		at(pod, "spec")["nodeName"] = n.name
		g.pods = append(g.pods, name)
	} else if name == "new" && g.likely(4) {
		g.claim(pod, in)
	} else if name == "new" && g.likely(3) {
		g.devices(pod)
	}
	add(in, "pods", pod)
}

// listOf is the field of a snapshot for the owners of a kind.
var listOf = map[string]string{
	"Deployment": "deployments", "ReplicaSet": "replicaSets", "StatefulSet": "statefulSets", "DaemonSet": "daemonSets", "Job": "jobs",
}

// ofKind is what else the spec of an owner has.
var ofKind = map[string]string{
	"StatefulSet": "{serviceName: $name, updateStrategy: {type: OnDelete}, podManagementPolicy: <OrderedReady;OrderedReady;Parallel>}",
	"DaemonSet":   "{updateStrategy: {type: OnDelete}}",
}

// workload adds an owner of pods, with the pods themselves if these run.
func (g *generator) workload(name string, in object, running bool) {
	kind := pick(g, "Deployment", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
	if running && (kind == "DaemonSet" || kind == "Job") { // whose pods do not stay as they are
		kind = "ReplicaSet"
	}
	template, replicas := g.template(name), 1+g.IntN(4)
	owner := g.parse("{metadata: {name: $name, uid: $name}, spec: {selector: {matchLabels: {app: $name}}}}", "$name", name)
	spec := at(owner, "spec")
	maps.Copy(spec, g.parse(ofKind[kind], "$name", name))
	spec["template"] = template
	if kind != "DaemonSet" {
		spec["replicas"] = replicas
	}
	if kind == "Job" {
		owner["spec"] = object{"parallelism": replicas, "completions": replicas, "template": template}
		at(template, "spec")["restartPolicy"] = "Never"
		at(template, "metadata", "annotations")["pod-complete.stage.kwok.x-k8s.io/delay"] = "24h" // or they end at once
	}
	if running {
		g.run(kind, owner, replicas)
		return
	}
	if kind == "StatefulSet" && g.likely(3) {
		add(spec, "volumeClaimTemplates", g.parse("{metadata: {name: data}, spec: "+ofClaim+"}", "$class", pick(g, "late", "now")))
	}
	if g.likely(2) {
		g.devices(template)
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
		owner["metadata"] = g.parse("{name: $app-1, uid: $app-1, labels: {app: $app, pod-template-hash: '1'}, annotations: {deployment.kubernetes.io/revision: '1'}}", "$app", name)
		at(owner, "metadata")["ownerReferences"] = g.reference(top[0], name)
		at(owner, "spec", "template", "metadata", "labels")["pod-template-hash"] = "1"
		at(owner, "spec", "selector", "matchLabels")["pod-template-hash"] = "1"
		name += "-1"
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
		at(pod, "metadata")["ownerReferences"] = g.reference(kind, name)
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

func (g *generator) reference(kind, owner string) list {
	return list{g.parse("{apiVersion: apps/v1, kind: $kind, name: $owner, uid: $owner, controller: true}", "$kind", kind, "$owner", owner)}
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
func (g *generator) aNode() *nodeRoom {
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
	add(g.change, "patch", patch)
}

// askScale changes how many pods an owner has, or their labels.
func (g *generator) askScale() {
	if len(g.owners) == 0 {
		return
	}
	owner := pick(g, g.owners...)
	patch := g.parse("{spec: {replicas: <0..5>}}")
	if owner[0] == "Deployment" && g.likely(5) {
		patch = g.parse("{spec: {template: {metadata: {labels: {release: new}}}}}")
	}
	g.patch(owner[0], owner[1], patch)
}

// askPod changes the labels of a pod, which rules of others select: its workload loses it.
func (g *generator) askPod() {
	all := slices.Concat(g.pods, g.owned)
	if len(all) > 0 {
		g.patch("Pod", pick(g, all...), g.parse("{metadata: {labels: {app: $app}}}", "$app", pick(g, g.apps...)))
	}
}

// askNode changes a node: its readiness, a cordon, a taint, a label, or its room.
func (g *generator) askNode() {
	n := g.aNode()
	tainted := g.parse("{spec: {taints: [{key: new, effect: <NoSchedule;NoExecute>}]}}")
	at(tainted, "spec")["taints"] = append(slices.Clone(n.taints), asList(at(tainted, "spec")["taints"])...)
	g.patch("Node", n.name, pick(g,
		tainted,
		g.parse("{status: {conditions: [{type: Ready, status: 'False'}]}}"),
		g.parse("{spec: {unschedulable: <true;null>}}"),
		g.parse("{spec: {taints: null}}"),
		g.parse("{metadata: {labels: {<disk;topology.kubernetes.io/zone>: <ssd;x;w>}}}"),
		g.parse("{status: {allocatable: "+room+"}}", "$cpu", strconv.Itoa(1000*(1+g.IntN(8))), "$pods", strconv.Itoa(2+g.IntN(10))),
	))
}
