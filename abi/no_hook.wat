;; A module that exports no hook, only what goes with one.
(module $no_hook
  (memory (export "memory") 1 1)
  (func (export "enqueue"))
  (func (export "prescore") (result i32) (i32.const 0)))
