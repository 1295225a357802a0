;; A sees_resources with a result.
(module $wrong_sees
  (memory (export "memory") 1 1)
  (func (export "sees_resources") (result i32) (i32.const 0))
  (func (export "filter") (result i32) (i32.const 0)))
