;; A module without a memory.
(module $no_memory
  (func (export "filter") (result i32) (i32.const 0)))
