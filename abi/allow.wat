;; A guest that ends its own wait of the pod whose UID is in guestConfig, with each node, and passes the node if the pod waited.
(module $allow
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "handle.allow_waiting_pod" (func $allow (param i32 i32 i32 i32)))
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32)
    (call $allow (i32.const 0) (call $get_config (i32.const 0) (i32.const 253)) (i32.const 256) (i32.const 8))
    (select (i32.const 0) (i32.const 2) (i64.eq (i64.load (i32.const 256)) (i64.const 1)))))
