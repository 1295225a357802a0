;; A guest that filters, and rejects a waiting pod, "web", with each node.
(module $filter_handle
  (import "k8s.io/scheduler" "handle.reject_waiting_pod" (func $reject (param i32 i32 i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "web")
  (func (export "filter") (result i32)
    (call $reject (i32.const 0) (i32.const 3) (i32.const 8) (i32.const 8))
    (i32.const 0)))
