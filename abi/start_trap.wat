;; A guest that traps while it starts.
(module $start_trap
  (memory (export "memory") 1 1)
  (func $main (export "_start") (unreachable))
  (func (export "filter") (result i32) (i32.const 0)))
