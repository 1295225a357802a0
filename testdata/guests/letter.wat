;; A guest that has a letter. Filter and PreBind reject with two: the one that PreFilter has left in the memory, and
;; the guest's own. Tests make another guest of it by another letter.
(module $letter
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1) "A is the letter")
  (func (export "prefilter") (result i32)
    (i32.store8 (i32.const 0) (i32.load8_u (i32.const 1)))
    (i32.const 0))
  (func $tell (result i32)
    (call $status_reason (i32.const 0) (i32.const 2))
    (i32.const 2))
  (func (export "filter") (result i32) (call $tell))
  (func (export "prebind") (result i32) (call $tell)))
