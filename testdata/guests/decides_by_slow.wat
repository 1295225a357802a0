;; A guest that declares what it decides by, as decides_by does. But for each verdict it
;; first asks the scheduler for the nodes, so that a test can make it slow.
(module $decides_by_slow
  (import "k8s.io/api" "nodeList" (func $node_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32)
    (drop (call $node_list (i32.const 4096) (i32.const 0)))
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6e)) (then (return (i32.const 0))))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (i32.const 3)))
