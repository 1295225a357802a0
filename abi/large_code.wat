;; A guest whose codes are more than hooks may return: filter and bind return a constant, score 256, which is 0 in a byte.
(module $large_code
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32) (i32.const 4))
  (func (export "score") (result i64) (i64.shl (i64.const 1) (i64.const 8)))
  (func (export "bind") (result i32) (i32.const 5)))
