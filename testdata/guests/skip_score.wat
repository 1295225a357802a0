;; A guest whose PreFilter skips Filter (5), and that scores.
(module $skip_score
  (memory (export "memory") 1 1)
  (func (export "prefilter") (result i32) (i32.const 5))
  (func (export "score") (result i64) (i64.const 0)))
