;; A guest that declares to decide by the pods on a node, and has normalizescore, so that nothing is remembered of it. It
;; rejects a node with pods: their number is the last byte of the node.
(module $counts_pods
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 512) "node.pods\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 512) (i64.const 32)) (i64.const 10)))
  (func (export "filter") (result i32)
    (select (i32.const 2) (i32.const 0)
      (i32.load8_u (i32.add (i32.const 1023)
        (call $node (i32.const 0) (call $current_node_name (i32.const 0) (i32.const 253)) (i32.const 1024) (i32.const 65536))))))
  (func (export "score") (result i64) (i64.extend_i32_u (call $current_node_name (i32.const 0) (i32.const 0))))
  (func (export "normalizescore") (result i32) (drop (call $current_node_name (i32.const 0) (i32.const 0))) (i32.const 0)))
