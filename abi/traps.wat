;; A guest that traps in the hook whose first letters are in its guestConfig.
(module $traps
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func $in (param $letters i32) (result i32)
    (i32.store (i32.const 0) (i32.const 0))
    (drop (call $get_config (i32.const 0) (i32.const 4)))
    (if (i32.eq (i32.load (i32.const 0)) (local.get $letters)) (then (unreachable)))
    (i32.const 0))
  (func (export "enqueue") (drop (call $in (i32.const 0x75716e65)))) ;; enqu
  (func (export "prefilter") (result i32) (call $in (i32.const 0x66657270))) ;; pref
  (func (export "addpod") (result i32) (call $in (i32.const 0x70646461))) ;; addp
  (func (export "removepod") (result i32) (call $in (i32.const 0x6f6d6572))) ;; remo
  (func (export "filter") (result i32) (call $in (i32.const 0x746c6966))) ;; filt
  (func (export "postfilter") (result i64) (i64.extend_i32_u (call $in (i32.const 0x74736f70)))) ;; post
  (func (export "prescore") (result i32) (call $in (i32.const 0x73657270))) ;; pres
  (func (export "score") (result i64) (i64.extend_i32_u (call $in (i32.const 0x726f6373)))) ;; scor
  (func (export "normalizescore") (result i32) (call $in (i32.const 0x6d726f6e))) ;; norm
  (func (export "reserve") (result i32) (call $in (i32.const 0x65736572))) ;; rese
  (func (export "unreserve") (drop (call $in (i32.const 0x65726e75)))) ;; unre
  (func (export "permit") (result i64) (i64.extend_i32_u (call $in (i32.const 0x6d726570)))) ;; perm
  (func (export "prebind") (result i32) (call $in (i32.const 0x62657270))) ;; preb
  (func (export "bind") (result i32) (call $in (i32.const 0x646e6962))) ;; bind
  (func (export "postbind") (drop (call $in (i32.const 0x74736f70))))) ;; post
