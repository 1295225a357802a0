;; A guest that declares nothing. filter logs each call, and rejects the node with its name.
(module $whole_undeclared
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "asked")
  (data (i32.const 8) "node.metadata.labels['zone']\00")
  (func $tell (result i32)
    (call $log (i32.const 0) (i32.const 0) (i32.const 5))
    (call $reason (i32.const 64) (call $node_name (i32.const 64) (i32.const 253)))
    (i32.const 2))
  (func (export "filter") (result i32) (call $tell)))
