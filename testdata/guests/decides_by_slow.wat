;; A guest that declares what it decides by, as decides_by does. But for each verdict it
;; first logs a line, so that a test can make it slow.
(module $decides_by_slow
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "filter") (result i32)
    (call $log (i32.const 0) (i32.const 2048) (i32.const 14))
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x6e)) (then (return (i32.const 0))))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (i32.const 3)))
