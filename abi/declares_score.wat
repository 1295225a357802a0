;; A guest that declares a label of the node, and whose score asks for all nodes.
(module $declares_score
  (import "k8s.io/api" "nodeList" (func $node_list (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 8) "node.metadata.labels['zone']\00")
  (func (export "decides_by") (result i64) (i64.const 0x80000001d)) ;; 29 bytes at 8
  (func (export "score") (result i64)
    (drop (call $node_list (i32.const 64) (i32.const 0)))
    (i64.const 0)))
