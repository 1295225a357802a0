;; A guest whose filter passes nodes if _initialize was called before, and traps at other-0, the only name of seven bytes.
;; enqueue logs, which a later instance does not come to.
(module $initialized
  (import "k8s.io/scheduler" "currentNodeName" (func $node_name (param i32 i32) (result i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 64) "later")
  (global $initialized (mut i32) (i32.const 0))
  (func (export "_initialize") (global.set $initialized (i32.const 1)))
  (func (export "enqueue") (call $log (i32.const 0) (i32.const 64) (i32.const 5)))
  (func (export "filter") (result i32)
    (if (i32.eq (call $node_name (i32.const 0) (i32.const 0)) (i32.const 7)) (then (unreachable)))
    (select (i32.const 0) (i32.const 3) (global.get $initialized))))
