;; A guest that traps when it is asked which events wake its pods.
(module $trap_enqueue
  (memory (export "memory") 1 1)
  (func $enqueue (export "enqueue") (unreachable))
  (func (export "filter") (result i32) (i32.const 0)))
