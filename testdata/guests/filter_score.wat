;; A guest that both filters and scores: it lets every node pass and likes all
;; of them equally.
(module $filter_score
  (memory (export "memory") 1 1)
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "score") (result i64) (i64.const 0)))
