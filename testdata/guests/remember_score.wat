;; A guest that scores, does not filter, and needs PreScore for it: the score is
;; the number of bytes that the filtered nodes take, or -1 before PreScore, and its
;; PreFilter forgets that.
(module $remember_score
  (import "k8s.io/scheduler" "filteredNodeList" (func $filtered (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (global $known (mut i32) (i32.const -1))
  (func (export "prefilter") (result i32) (global.set $known (i32.const -1)) (i32.const 0))
  (func (export "prescore") (result i32)
    (global.set $known (call $filtered (i32.const 0) (i32.const 65536)))
    (i32.const 0))
  (func (export "score") (result i64)
    (i64.shl (i64.extend_i32_s (global.get $known)) (i64.const 32))))
