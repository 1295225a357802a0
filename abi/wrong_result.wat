;; A filter whose result is an i64.
(module $wrong_result
  (memory (export "memory") 1 1)
  (func (export "filter") (result i64) (i64.const 0)))
