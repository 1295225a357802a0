;; A guest whose Filter comes back from a recursion of a million functions.
(module $deep
  (memory (export "memory") 1 1)
  (func $filter (export "filter") (result i32)
    (call $down (i32.const 1000000)))
  (func $down (param $more i32) (result i32)
    (if (result i32) (local.get $more)
      (then (i32.sub (call $down (i32.sub (local.get $more) (i32.const 1))) (i32.const 0)))
      (else (i32.const 0)))))
