;; A guest that declares to decide by the name of the node, logs each call of filter, and returns the code in its guestConfig, or traps.
(module $asked
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 8) "askednode.metadata.name\00")
  (func (export "decides_by") (result i64) (i64.const 0xd00000013))
  (func (export "filter") (result i32)
    (drop (call $get_config (i32.const 0) (i32.const 1)))
    (call $log (i32.const 0) (i32.const 8) (i32.const 5))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x74)) (then (unreachable))) ;; t
    (i32.sub (i32.load8_u (i32.const 0)) (i32.const 0x30))))
