;; A guest that scores, and traps when it normalizes the scores.
(module $trap_normalizescore
  (memory (export "memory") 1 1)
  (func (export "score") (result i64) (i64.const 0))
  (func $normalizescore (export "normalizescore") (result i32) (unreachable)))
