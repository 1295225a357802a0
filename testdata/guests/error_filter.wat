;; A healthy guest whose filter answers with the code Error and a reason: not a
;; trap, and no cause to replace the guest.
(module $error_filter
  (import "k8s.io/scheduler" "result.status_reason"
    (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "no such luck")
  (func (export "filter") (result i32)
    (call $status_reason (i32.const 0) (i32.const 12))
    (i32.const 1)))
