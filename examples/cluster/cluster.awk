# Writes a cluster as "kubectl get -o json" would, to try the simulator on:
#
#   awk -f cluster.awk -v nodes=1000 -v pods=3000 > cluster.json
#
# Nodes are of four instance types in three zones. Pods belong to up to 60 workloads, and
# run where they may and where there is room, but for a few that wait. The same numbers
# give the same file.

BEGIN {
	nodes = nodes ? nodes : 1000
	pods = pods ? pods : 3000
	if (nodes < 20 || pods < 50) {
		print "cluster.awk: at least 20 nodes and 50 pods, for one of each kind" > "/dev/stderr"
		exit 2
	}
	small = pods > 5 * nodes ? 5 * nodes / pods : 1 # how small pods are, so that so many have room
	workloads = pods < 300 ? int(pods / 5) : 60
	chance = 22
	printf "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
	once()
	for (i = 0; i < nodes; i++) node(i)
	total = 0
	for (w = 1; w <= workloads; w++) total += weight(w)
	for (w = 1; w <= workloads; w++) workload(w)
	for (r = 0; left > 0; r++)
		for (w = 1; w <= workloads; w++)
			if (r < replicas[w]) { pod(w, r); left-- }
	print "\n]}"
}

# item writes an object, in which ' stands for ".
function item(api, is, text) {
	text = "{'apiVersion': '" api "', 'kind': '" is "', " text "}"
	gsub(/'/, "\"", text)
	printf "%s\n%s", comma, text
	comma = ","
}

# meta is the metadata of an object; more may have labels and the like.
function meta(in_, name, id, more) {
	return "'metadata': {" (in_ ? "'namespace': '" in_ "', " : "") "'name': '" name "', 'uid': '" id "'" (more ? ", " more : "") "}"
}

function uid(of, i) { return sprintf("%08d-0000-4000-8000-%012d", of, i) }

function once(  i, spaces) {
	split("shop data ml office default kube-system", spaces, " ")
	for (i = 1; i <= 6; i++) item("v1", "Namespace", meta("", spaces[i], uid(1, i)))
	item("scheduling.k8s.io/v1", "PriorityClass", meta("", "system-cluster-critical", uid(2, 3)) ", 'value': 2000000000")
	item("v1", "Service", meta("default", "kubernetes", uid(5, 0)) ", 'spec': {'ports': [{'port': 443}]}")
	item("scheduling.k8s.io/v1", "PriorityClass", meta("", "customers", uid(2, 1)) ", 'value': 1000")
	item("scheduling.k8s.io/v1", "PriorityClass", meta("", "later", uid(2, 2)) ", 'value': -10, 'preemptionPolicy': 'Never'")
	item("storage.k8s.io/v1", "StorageClass", meta("", "zonal", uid(3, 1)) ", 'provisioner': 'disk.example.com', 'reclaimPolicy': 'Delete', " \
		"'volumeBindingMode': 'WaitForFirstConsumer'")
}

# node: of twenty, ten are for anything, five have more CPU, four more memory, and one GPUs.
function node(i,  of, type, more, name, room) {
	of = i % 20
	if (of < 10) { group[i] = "general"; type = "m7i.4xlarge"; cpu[i] = 15700; memory[i] = 61 }
	else if (of < 15) { group[i] = "compute"; type = "c7i.8xlarge"; cpu[i] = 31600; memory[i] = 61 }
	else if (of < 19) { group[i] = "memory"; type = "r7i.4xlarge"; cpu[i] = 15700; memory[i] = 122 }
	else { group[i] = "gpu"; type = "g5.48xlarge"; cpu[i] = 190000; memory[i] = 740; gpus[i] = 8 }
	more = gpus[i] ? ", 'nvidia.com/gpu': '" gpus[i] "'" : ""
	zone[i] = substr("abc", many[group[i]]++ % 3 + 1, 1)
	names[i] = name = group[i] "-" zone[i] sprintf("-%04d", i)
	room = "{'cpu': '" cpu[i] "m', 'memory': '" memory[i] "Gi', 'pods': '110'" more "}"
	item("v1", "Node", meta("", name, uid(4, i), "'labels': {'kubernetes.io/hostname': '" name "', 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux', " \
		"'kubernetes.io/arch': 'amd64', 'beta.kubernetes.io/arch': 'amd64', 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'r-" zone[i] "', " \
		"'node.kubernetes.io/instance-type': '" type "', 'example.com/node-group': '" group[i] "'}") ", 'spec': {" \
		(group[i] == "gpu" ? "'taints': [{'key': 'nvidia.com/gpu', 'effect': 'NoSchedule'}]" : "") "}, " \
		"'status': {'capacity': " room ", 'allocatable': " room ", 'conditions': [{'type': 'Ready', 'status': 'True'}]}")
	item("storage.k8s.io/v1", "CSINode", meta("", name, uid(12, i)) ", 'spec': {'drivers': []}")
}

# weight is how large a workload is, against the others.
function weight(w) {
	if (w == workloads) return 1
	return w % 10 == 9 || w % 15 == 7 ? 2 : 4 + w * 7 % 9
}

# workload decides what a workload is, and writes all of it but its pods.
function workload(w,  before) {
	before = int(pods * done / total)
	done += weight(w)
	replicas[w] = int(pods * done / total) - before
	left += replicas[w]
	decide(w)
	hash[w] = letters(w * 91193 + 5077, 9)
	owner(w)
	item("v1", "Service", meta(namespace[w], app[w], uid(5, w)) ", 'spec': {'selector': {'app': '" app[w] "'}, 'ports': [{'port': 80}]" \
		(kind[w] == "StatefulSet" ? ", 'clusterIP': 'None'" : "") "}")
	if (kind[w] == "StatefulSet" || w % 3 == 0)
		item("policy/v1", "PodDisruptionBudget", meta(namespace[w], app[w], uid(6, w)) ", 'spec': {'selector': {'matchLabels': {'app': '" app[w] "'}}, " \
			(kind[w] == "StatefulSet" ? "'maxUnavailable': 1}" : "'minAvailable': '80%'}"))
}

# decide: what a workload's pods ask for, and where they may run. Most are of a shop, some
# of them for one group of nodes, or for nodes with some names.
function decide(w,  prefix, class) {
	namespace[w] = "shop"; prefix = "svc"; kind[w] = "Deployment"
	class = w % 6 == 1 ? "customers" : ""
	asks[w] = (1 + w % 4) * 1000 # milli CPUs
	needs[w] = 2 * (1 + int(w / 4) % 4) # GiB
	spread[w] = w % 4 == 1 # over zones
	if (w == workloads) { # waits for a node of another type
		namespace[w] = "office"; prefix = "report"
		needs[w] = 1024
	} else if (w % 10 == 9) {
		namespace[w] = "ml"; prefix = "train"; class = "later"; selects[w] = "gpu"
		wants[w] = w % 20 == 9 || small < 1 ? 1 : 4
		asks[w] = 8000 * wants[w]; needs[w] = 32 * wants[w]
		spread[w] = 0
	} else if (w % 5 == 3) {
		namespace[w] = "data"; prefix = "db"; kind[w] = "StatefulSet"; selects[w] = "memory"
		asks[w] = 2000; needs[w] = w % 2 ? 12 : 16
		spread[w] = 1
	} else if (w % 10 == 5) {
		selects[w] = "compute"
		asks[w] = 6000
	} else if (w % 15 == 7) {
		regex[w] = w % 30 == 7 ? "^general-[ab]-" : "^(general|compute)-c-"
		spread[w] = 0
	}
	if (w != workloads && !wants[w]) {
		asks[w] = int(asks[w] * small)
		needs[w] = int(needs[w] * small) + (small < 1)
	}
	app[w] = sprintf("%s-%02d", prefix, w)
	if (class) priority[w] = "'priorityClassName': '" class "', 'priority': " (class == "later" ? -10 : 1000) ", "
}

# owner writes what a workload's pods belong to.
function owner(w,  selector) {
	selector = "'selector': {'matchLabels': {'app': '" app[w] "'}}, 'template': " template(w, "")
	if (kind[w] == "StatefulSet") {
		item("apps/v1", "StatefulSet", meta(namespace[w], app[w], uid(7, w)) ", 'spec': {'replicas': " replicas[w] ", 'serviceName': '" app[w] "', " \
			"'updateStrategy': {'type': 'OnDelete'}, " selector ", 'volumeClaimTemplates': [{'metadata': {'name': 'data'}, 'spec': " claim("") "}]}")
		return
	}
	item("apps/v1", "Deployment", meta(namespace[w], app[w], uid(8, w)) ", 'spec': {'replicas': " replicas[w] ", " selector "}")
	item("apps/v1", "ReplicaSet", meta(namespace[w], app[w] "-" hash[w], uid(7, w), labels(w, "pod-template-hash") ", " owned("Deployment", app[w], uid(8, w))) \
		", 'spec': {'replicas': " replicas[w] ", 'selector': {'matchLabels': {'app': '" app[w] "', 'pod-template-hash': '" hash[w] "'}}, " \
		"'template': " template(w, "pod-template-hash") "}")
}

function template(w, key) { return "{'metadata': {" labels(w, key) annotations(w) "}, 'spec': {" spec(w) "}}" }

function labels(w, key) { return "'labels': {'app': '" app[w] "'" (key ? ", '" key "': '" hash[w] "'" : "") "}" }

function annotations(w) { return regex[w] ? ", 'annotations': {'scheduler.wasmkwokwizardry.io/regex': '" regex[w] "'}" : "" }

function owned(by, name, id) {
	return "'ownerReferences': [{'apiVersion': 'apps/v1', 'kind': '" by "', 'name': '" name "', 'uid': '" id "', 'controller': true}]"
}

# spec is the same for all pods of a workload.
function spec(w,  gpu) {
	gpu = wants[w] ? ", 'nvidia.com/gpu': '" wants[w] "'" : ""
	return priority[w] "'containers': [{'name': 'main', 'image': 'example.com/" app[w] ":1', 'resources': {'requests': {'cpu': '" asks[w] "m', " \
		"'memory': '" needs[w] "Gi'" gpu "}" (gpu ? ", 'limits': {" substr(gpu, 3) "}" : "") "}}]" \
		(selects[w] ? ", 'nodeSelector': {'example.com/node-group': '" selects[w] "'}" : "") \
		(selects[w] == "gpu" ? ", 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists', 'effect': 'NoSchedule'}]" : "") \
		(spread[w] ? ", 'topologySpreadConstraints': [{'maxSkew': 1, 'topologyKey': 'topology.kubernetes.io/zone', 'whenUnsatisfiable': 'DoNotSchedule', " \
			"'labelSelector': {'matchLabels': {'app': '" app[w] "'}}}]" : "")
}

function claim(volume) {
	return "{'accessModes': ['ReadWriteOnce'], 'storageClassName': 'zonal', 'resources': {'requests': {'storage': '100Gi'}}" \
		(volume ? ", 'volumeName': '" volume "'" : "") "}"
}

# pod writes a pod, with its claim and volume if it has some.
function pod(w, r,  name, to, more) {
	number++
	to = place(w, r)
	more = labels(w, "pod-template-hash")
	name = app[w] "-" hash[w] "-" letters(r * 7919 + 104729, 5)
	if (kind[w] == "StatefulSet") {
		name = app[w] "-" r
		more = "'labels': {'app': '" app[w] "', 'apps.kubernetes.io/pod-index': '" r "', 'statefulset.kubernetes.io/pod-name': '" name "'}"
		volume(w, name, to)
	}
	more = more annotations(w) ", 'creationTimestamp': '" created() "', " \
		(kind[w] == "StatefulSet" ? owned("StatefulSet", app[w], uid(7, w)) : owned("ReplicaSet", app[w] "-" hash[w], uid(7, w)))
	item("v1", "Pod", meta(namespace[w], name, uid(9, number), more) ", 'spec': {" (to >= 0 ? "'nodeName': '" names[to] "', " : "") spec(w) \
		(kind[w] == "StatefulSet" ? ", 'volumes': [{'name': 'data', 'persistentVolumeClaim': {'claimName': 'data-" name "'}}]" : "") "}, " \
		"'status': {'phase': '" (to >= 0 ? "Running" : "Pending") "'}")
}

# created counts seconds from the beginning of 2026, as one pod is made after the other.
function created() {
	return sprintf("2026-01-%02dT%02d:%02d:%02dZ", 1 + int(number / 86400), int(number / 3600) % 24, int(number / 60) % 60, number % 60)
}

# volume writes the claim of a pod, and its volume in the zone of the pod's node.
function volume(w, of, on,  name, done) {
	name = on < 0 ? "" : "pvc-" uid(10, number)
	done = name ? "'phase': 'Bound', 'accessModes': ['ReadWriteOnce'], 'capacity': {'storage': '100Gi'}" : "'phase': 'Pending'"
	item("v1", "PersistentVolumeClaim", meta(namespace[w], "data-" of, uid(10, number), "'labels': {'app': '" app[w] "'}" \
		(name ? ", 'annotations': {'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes'}" : "")) \
		", 'spec': " claim(name) ", 'status': {" done "}")
	if (!name) return
	item("v1", "PersistentVolume", meta("", name, uid(11, number), "'annotations': {'pv.kubernetes.io/provisioned-by': 'disk.example.com'}") \
		", 'spec': {'accessModes': ['ReadWriteOnce'], 'capacity': {'storage': '100Gi'}, 'storageClassName': 'zonal', 'persistentVolumeReclaimPolicy': 'Delete', " \
		"'csi': {'driver': 'disk.example.com', 'volumeHandle': '" name "'}, " \
		"'claimRef': {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'namespace': '" namespace[w] "', 'name': 'data-" of "', 'uid': '" uid(10, number) "'}, " \
		"'nodeAffinity': {'required': {'nodeSelectorTerms': [{'matchExpressions': [" \
		"{'key': 'topology.kubernetes.io/zone', 'operator': 'In', 'values': ['r-" zone[on] "']}]}]}}}, 'status': {'phase': 'Bound'}")
}

# place is a node for a pod, or -1: the first with room from a node by chance on. A node is
# filled beyond two thirds only if all are.
function place(w, r,  full, i, n, start) {
	chance = chance * 16807 % 2147483647
	start = chance % nodes
	for (full = 2; full <= 3; full++)
		for (i = 0; i < nodes; i++) {
			n = (start + i) % nodes
			if (may(w, r, n) && fits(w, n, full / 3)) {
				usedCPU[n] += asks[w]; usedMemory[n] += needs[w]; usedGPUs[n] += wants[w]
				return n
			}
		}
	return -1
}

function may(w, r, n) {
	if (selects[w] ? group[n] != selects[w] : group[n] == "gpu") return 0
	return (!spread[w] || zone[n] == substr("abc", r % 3 + 1, 1)) && (!regex[w] || names[n] ~ regex[w])
}

function fits(w, n, share) {
	return usedCPU[n] + asks[w] <= cpu[n] * share && usedMemory[n] + needs[w] <= memory[n] * share && usedGPUs[n] + wants[w] <= gpus[n]
}

# letters are a number as Kubernetes writes such names.
function letters(of, many_,  text) {
	for (text = ""; many_ > 0; many_--) {
		text = text substr("bcdfghjklmnpqrstvwxz2456789", of % 27 + 1, 1)
		of = int(of / 27) + of % 27 * 31
	}
	return text
}
