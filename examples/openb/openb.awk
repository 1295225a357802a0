# Writes the cluster of Alibaba's trace "openb" as "kubectl get -o json" would, with all of its pods pending:
#
#   awk -F, -f openb.awk openb_node_list_all_node.csv openb_pod_list_default.csv > openb.json
#
# A GPU is 1000 of the resource example.com/gpu-milli. Those of a node are one pool.

BEGIN {
	printf "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": ["
}

FNR == 1 { # the names of the columns
	for (i in column) delete column[i]
	for (i = 1; i <= NF; i++) column[$i] = i
	next
}

"sn" in column {
	meta = "'name': '" of("sn") "', 'labels': {'kubernetes.io/hostname': '" of("sn") "'" (of("model") != "" ? ", 'gpu-model': '" of("model") "'" : "") "}"
	has = "'cpu': '" of("cpu_milli") "m', 'memory': '" of("memory_mib") "Mi', 'pods': '1000'" gpus(1000 * of("gpu"))
	item("Node", meta, "'status': {'capacity': {" has "}, 'allocatable': {" has "}}")
}

"name" in column {
	meta = "'name': '" of("name") "', 'namespace': 'default', 'creationTimestamp': '" strftime("%Y-%m-%dT%H:%M:%SZ", 1640995200 + of("creation_time"), 1) "'"
	wants = "'cpu': '" of("cpu_milli") "m', 'memory': '" of("memory_mib") "Mi'"
	limits = gpus(of("num_gpu") * of("gpu_milli"))
	item("Pod", meta, "'spec': {'containers': [{'name': 'c', 'image': 'c', 'resources': {'requests': {" wants limits "}, 'limits': {" substr(limits, 3) "}}}]}")
}

END {
	print "\n]}"
}

function of(name) {
	return $column[name]
}

function gpus(milli) {
	return milli > 0 ? ", 'example.com/gpu-milli': '" milli "'" : ""
}

# item writes an object, in which ' stands for ".
function item(kind, meta, text) {
	text = "{'apiVersion': 'v1', 'kind': '" kind "', 'metadata': {" meta "}, " text "}"
	gsub(/'/, "\"", text)
	printf "%s\n%s", comma, text
	comma = ","
}
