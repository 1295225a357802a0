;; A guest that counts the calls of filter, which take a while: its scores are how many there were.
(module $counts_filter
  (memory (export "memory") 1 1)
  (global $calls (mut i32) (i32.const 0))
  (func (export "filter") (result i32)
    (local $left i32)
    (local.set $left (i32.const 1000000))
    (loop $on (br_if $on (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.const 0))
  (func (export "score") (result i64) (i64.shl (i64.extend_i32_u (global.get $calls)) (i64.const 32))))
