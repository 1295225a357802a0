;; A guest with nothing but a prefilter, which traps on its second call and on
;; all calls after it.
(module $trap_prefilter
  (memory (export "memory") 1 1)
  (global $calls (mut i32) (i32.const 0))
  (func $prefilter (export "prefilter") (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (unreachable)))
    (i32.const 0)))
