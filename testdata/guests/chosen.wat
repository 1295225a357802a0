;; A guest that answers about the chosen node as the letter of its guestConfig says:
;; r Reserve rejects it, t Permit does, w Permit waits 1.5 s, anything else Success.
;; It scores a node by the last letter of its name, and logs that Unreserve is called.
(module $chosen
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 1000) "taken")
  (data (i32.const 1010) "unreserved")
  (func $configured (param $letter i32) (result i32)
    (drop (call $get_config (i32.const 0) (i32.const 1)))
    (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)))
  (func (export "score") (result i64)
    (i64.shl
      (i64.extend_i32_u (i32.load8_u
        (i32.add (i32.const 99) (call $current_node_name (i32.const 100) (i32.const 253)))))
      (i64.const 32)))
  (func (export "reserve") (result i32)
    (if (call $configured (i32.const 0x72)) ;; r
      (then
        (call $status_reason (i32.const 1000) (i32.const 5))
        (return (i32.const 2))))
    (i32.const 0))
  (func (export "unreserve") (call $log (i32.const 0) (i32.const 1010) (i32.const 10)))
  (func (export "permit") (result i64)
    (if (call $configured (i32.const 0x74)) ;; t
      (then
        (call $status_reason (i32.const 1000) (i32.const 5))
        (return (i64.const 0x200000000))))
    (if (call $configured (i32.const 0x77)) ;; w
      (then (return (i64.const 0x4000005dc))))
    (i64.const 0))
  (func (export "postbind")))
