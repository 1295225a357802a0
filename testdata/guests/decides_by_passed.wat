;; As remember_score, but it declares that its answers depend on nothing. That holds for
;; what is remembered, and not of PreScore, which asks which nodes passed.
(module $decides_by_passed
  (import "k8s.io/scheduler" "filteredNodeList" (func $filtered (param i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (global $known (mut i32) (i32.const -1))
  (func (export "decides_by") (result i64) (i64.const 0))
  (func (export "prescore") (result i32)
    (global.set $known (call $filtered (i32.const 0) (i32.const 65536)))
    (select (i32.const 5) (i32.const 0) (i32.eq (global.get $known) (i32.const 2)))) ;; []
  (func (export "score") (result i64)
    (i64.shl (i64.extend_i32_s (global.get $known)) (i64.const 32))))
