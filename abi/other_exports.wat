;; A guest with further exports, all of which trap.
(module $other_exports
  (memory (export "memory") 1 1)
  (global (export "version") i32 (i32.const 7))
  (func (export "malloc") (param i32) (result i32) (unreachable))
  (func (export "main") (result i32) (unreachable))
  (func (export "prefilter2") (result i32) (unreachable))
  (func (export "sees_resources") (unreachable))
  (func (export "filter") (result i32) (local $n i32) (local.set $n (i32.const 1)) (i32.sub (local.get $n) (i32.const 1))))
