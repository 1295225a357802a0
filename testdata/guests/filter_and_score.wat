;; A guest that scores a node by how many nodes its Filter has seen.
(module $filter_and_score
  (memory (export "memory") 1 1)
  (global $seen (mut i64) (i64.const 0))
  (func (export "filter") (result i32)
    (global.set $seen (i64.add (global.get $seen) (i64.const 1)))
    (i32.const 0))
  (func (export "score") (result i64) (i64.shl (global.get $seen) (i64.const 32))))
