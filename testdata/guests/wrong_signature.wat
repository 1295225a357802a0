;; A filter that wants a parameter: the host calls () -> (i32).
(module $wrong_signature
  (memory (export "memory") 1 1)
  (func (export "filter") (param i32) (result i32) (local.get 0)))
