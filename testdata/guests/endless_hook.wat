;; A guest that loops for ever in the hook that its configuration names by a
;; letter: s _start, e enqueue, d decides_by, p prefilter, f filter, o postfilter,
;; c score, n normalizescore, r reserve, t permit, b bind.
(module $endless_hook
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func $hook (param $letter i32)
    (drop (call $get_config (i32.const 0) (i32.const 1)))
    (loop $again
      (br_if $again (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)))))
  (func (export "_start") (call $hook (i32.const 0x73)))
  (func (export "enqueue") (call $hook (i32.const 0x65)))
  (func (export "decides_by") (result i64) (call $hook (i32.const 0x64)) (i64.const 0))
  (func (export "prefilter") (result i32) (call $hook (i32.const 0x70)) (i32.const 0))
  (func (export "filter") (result i32) (call $hook (i32.const 0x66)) (i32.const 0))
  (func (export "postfilter") (result i64) (call $hook (i32.const 0x6f)) (i64.const 2))
  (func (export "score") (result i64) (call $hook (i32.const 0x63)) (i64.const 0))
  (func (export "normalizescore") (result i32) (call $hook (i32.const 0x6e)) (i32.const 0))
  (func (export "reserve") (result i32) (call $hook (i32.const 0x72)) (i32.const 0))
  (func (export "permit") (result i64) (call $hook (i32.const 0x74)) (i64.const 0))
  (func (export "bind") (result i32) (call $hook (i32.const 0x62)) (i32.const 0)))
