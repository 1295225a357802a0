;; A guest that counts what is reserved, whatever the pod: Reserve adds one,
;; Unreserve takes one away, and Filter tells the number.
(module $reserve_count
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (global $reserved (mut i32) (i32.const 0x30)) ;; 0
  (func (export "reserve") (result i32)
    (global.set $reserved (i32.add (global.get $reserved) (i32.const 1))) (i32.const 0))
  (func (export "unreserve")
    (global.set $reserved (i32.sub (global.get $reserved) (i32.const 1))))
  (func (export "filter") (result i32)
    (i32.store8 (i32.const 0) (global.get $reserved))
    (call $status_reason (i32.const 0) (i32.const 1))
    (i32.const 2)))
