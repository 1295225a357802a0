;; What TinyGo makes of a guest on the SDK that registers in main, which a library
;; does not run: every hook is there, and none does anything, but prefilter forgets
;; the last pod.
(module $main_not_run
  (memory (export "memory") 1 1)
  (global $pod (mut i32) (i32.const 0))
  (func (export "_initialize"))
  (func (export "prefilter") (result i32)
    (global.set $pod (i32.const 0))
    (i32.const 0))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "score") (result i64) (i64.const 0))
  (func (export "bind") (result i32) (i32.const 5)))
