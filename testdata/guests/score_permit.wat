;; A guest that scores and has a share in the binding cycle.
(module $score_permit
  (memory (export "memory") 1 1)
  (func (export "score") (result i64) (i64.const 0))
  (func (export "permit") (result i64) (i64.const 0)))
