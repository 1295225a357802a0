;; A guest that filters, ends the wait of the pod "waiting" with each node, and passes the
;; node if the pod waited.
(module $filter_allow
  (import "k8s.io/scheduler" "handle.allow_waiting_pod" (func $allow (param i32 i32 i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "waiting")
  (func (export "filter") (result i32)
    (call $allow (i32.const 0) (i32.const 7) (i32.const 8) (i32.const 8))
    (select (i32.const 0) (i32.const 2) (i32.load (i32.const 8)))))
