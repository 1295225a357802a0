;; It rejects all nodes, and has memory for three answers after a prefilter.
(module
  (memory (export "memory") 1 1)
  (global $used (mut i32) (i32.const 0))
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func (export "prefilter") (result i32) (global.set $used (i32.const 0)) (i32.const 0))
  (func (export "filter") (result i32)
    (global.set $used (i32.add (global.get $used) (i32.const 1)))
    (if (i32.gt_u (global.get $used) (i32.const 3)) (then (unreachable)))
    (i32.const 2)))
