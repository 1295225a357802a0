;; A guest that needs a page of memory for each 64 bytes of its pod, and keeps them. Its Filter, which takes a while,
;; rejects each node.
(module $hoards
  (import "k8s.io/scheduler" "currentPod" (func $pod (param i32 i32) (result i32)))
  (memory (export "memory") 2 4096)
  (func (export "prefilter") (result i32) (local $more i32)
    (local.set $more (i32.sub (i32.div_u (call $pod (i32.const 0) (i32.const 0)) (i32.const 64)) (memory.size)))
    (if (i32.gt_s (local.get $more) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $more)) (i32.const -1)) (then (unreachable)))))
    (i32.const 0))
  (func (export "filter") (result i32) (local $n i32)
    (loop $l (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $l (i32.lt_u (local.get $n) (i32.const 300000))))
    (i32.const 2)))
