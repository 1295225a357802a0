;; A guest that declares to decide by the name of the node, but looks for "west" in all that
;; it gets of the node, and of the pod: it lets a node pass where it finds that.
(module $decides_by_hidden
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 3 3)
  (data (i32.const 512) "node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 19)))
  (func (export "filter") (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.const 1024))
    (local.set $end (i32.add (i32.const 1020)
      (call $node (i32.const 0) (call $current_node_name (i32.const 0) (i32.const 253)) (i32.const 1024) (i32.const 65536))))
    (local.set $end (i32.add (local.get $end)
      (call $current_pod (i32.add (local.get $end) (i32.const 4)) (i32.const 65536))))
    (loop $next
      (if (i32.eq (i32.load (local.get $at)) (i32.const 0x74736577)) (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 3)))
