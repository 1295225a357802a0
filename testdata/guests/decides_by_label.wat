;; A guest that declares to decide by a label of the node. It rejects every node, with the
;; name and the whole of the node for a reason, and then the whole of the pod.
(module $decides_by_label
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 3 3)
  (data (i32.const 512) "node.metadata.labels['zone']\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 29)))
  (func (export "filter") (result i32)
    (local $end i32) (local $name i32)
    (local.set $name (call $current_node_name (i32.const 1024) (i32.const 253)))
    (local.set $end (i32.add (i32.const 1024) (local.get $name)))
    (local.set $end (i32.add (local.get $end)
      (call $node (i32.const 1024) (local.get $name) (local.get $end) (i32.const 65536))))
    (local.set $end (i32.add (local.get $end)
      (call $current_pod (local.get $end) (i32.const 65536))))
    (call $status_reason (i32.const 1024) (i32.sub (local.get $end) (i32.const 1024)))
    (i32.const 3)))
