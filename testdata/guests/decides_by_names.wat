;; A guest that declares what it decides by, as decides_by does, and answers about
;; many names at once. Its buffer has room for 300 bytes, and it answers about 40
;; names at most.
(module $decides_by_names
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1024) "pod.metadata.annotations['a']\00node.metadata.name\00")
  (data (i32.const 2048) "another letter")
  (func (export "decides_by") (result i64)
    (i64.or (i64.shl (i64.const 1024) (i64.const 32)) (i64.const 49)))
  (func $decide (param $letter i32) (result i32)
    (select (i32.const 0) (i32.const 3) (i32.eq (local.get $letter) (i32.const 0x6e))))
  (func (export "filter") (result i32)
    (drop (call $current_node_name (i32.const 0) (i32.const 253)))
    (call $status_reason (i32.const 2048) (i32.const 14))
    (call $decide (i32.load8_u (i32.const 0))))
  (func (export "names_buffer") (result i64)
    (i64.or (i64.shl (i64.const 4096) (i64.const 32)) (i64.const 300)))
  (func (export "filter_names") (param $names i32) (result i32)
    (local $at i32) (local $name i32) (local $code i32)
    (call $status_reason (i32.const 2048) (i32.const 14))
    (loop $next
      (local.set $code (call $decide (i32.load8_u offset=4097 (local.get $at))))
      (local.set $at (i32.add (i32.add (local.get $at) (i32.load8_u offset=4096 (local.get $at))) (i32.const 1)))
      (i32.store8 offset=4096 (local.get $name) (local.get $code))
      (local.set $name (i32.add (local.get $name) (i32.const 1)))
      (br_if $next (i32.and (i32.lt_u (local.get $name) (local.get $names)) (i32.lt_u (local.get $name) (i32.const 40)))))
    (local.get $name)))
