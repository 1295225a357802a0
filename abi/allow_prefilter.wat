;; A guest whose prefilter ends its own wait of the pod "uid-other". filter does nothing but call.
(module $allow_prefilter
  (import "k8s.io/scheduler" "handle.allow_waiting_pod" (func $allow (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "uid-other")
  (func (export "prefilter") (result i32)
    (call $allow (i32.const 0) (i32.const 9) (i32.const 64) (i32.const 8))
    (i32.const 0))
  (func (export "filter") (result i32)
    (drop (call $node_name (i32.const 64) (i32.const 0)))
    (i32.const 2)))
