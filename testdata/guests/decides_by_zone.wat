;; A guest that declares to decide by a label of the node, which it finds in the
;; node's message: it lets a node pass that has "west" in it. The score is 7, and 10
;; of a node that does not pass.
(module $decides_by_zone
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 512) "node.metadata.labels['zone']\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 29)))
  (func $fetch (result i32)
    (call $node (i32.const 0) (call $current_node_name (i32.const 0) (i32.const 253)) (i32.const 1024) (i32.const 65536)))
  (func $filter (export "filter") (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.const 1024))
    (local.set $end (i32.add (call $fetch) (i32.const 1020)))
    (loop $next
      (if (i32.eq (i32.load (local.get $at)) (i32.const 0x74736577)) (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 3))
  (func (export "score") (result i64)
    (i64.shl (i64.extend_i32_u (i32.add (call $filter) (i32.const 7))) (i64.const 32))))
