;; A guest that declares to decide by the GPUs that a pod requests, and the GPUs that pods request on a node: at
;; most four run on a node, and one with more of them gets a higher score. Each amount is the last byte of its object.
(module $decides_by_gpus
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 512) "pod.requests['example.com/gpu']\00node.requested['example.com/gpu']\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 66)))
  (func $requested (result i32)
    (i32.load8_u (i32.add (i32.const 1023)
      (call $node (i32.const 0) (call $current_node_name (i32.const 0) (i32.const 253)) (i32.const 1024) (i32.const 65536)))))
  (func $requests (result i32)
    (i32.load8_u (i32.add (i32.const 1023) (call $current_pod (i32.const 1024) (i32.const 65536)))))
  (func (export "filter") (result i32)
    (select (i32.const 2) (i32.const 0) (i32.gt_u (i32.add (call $requested) (call $requests)) (i32.const 4))))
  (func (export "score") (result i64)
    (i64.shl (i64.extend_i32_u (call $requested)) (i64.const 32))))
