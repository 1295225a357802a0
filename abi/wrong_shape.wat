;; A filter with a parameter.
(module $wrong_shape
  (memory (export "memory") 1 1)
  (func (export "filter") (param i32) (result i32) (local.get 0)))
