;; An import of a module that no host has.
(module $other_module
  (import "env" "abort" (func $abort))
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32) (call $abort) (i32.const 0)))
