;; A guest that filters, and says after every cycle that it remembers what it
;; has seen, unless the pod's name, which it looks for in the pod, has "nominate"
;; in it: then it nominates node-1. For any other pod of which its PreFilter has
;; seen nothing it would speak of the pod before.
(module $postfilter
  (import "k8s.io/scheduler" "currentPod"
    (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.status_reason"
    (func $status_reason (param i32 i32)))
  (import "k8s.io/scheduler" "result.nominated_node_name"
    (func $nominated_node_name (param i32 i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 0) "node-1")
  (data (i32.const 16) "I remember: ")
  (global $seen (mut i32) (i32.const 0)) ;; bytes of the reason, with the pod's
  ;; What is remembered are the bytes 2 to 7 of the pod: its name begins there.
  (func (export "prefilter") (result i32)
    (drop (call $current_pod (i32.const 1024) (i32.const 65536)))
    (memory.copy (i32.const 28) (i32.const 1028) (i32.const 6))
    (global.set $seen (i32.const 18))
    (i32.const 0))
  (func (export "filter") (result i32) (i32.const 2))
  (func (export "postfilter") (result i64)
    (if (i32.eq (i32.load (i32.const 28)) (i32.const 0x696d6f6e)) ;; nomi
      (then
        (call $nominated_node_name (i32.const 0) (i32.const 6))
        (return (i64.const 0x100000000)))) ;; Success, ModeOverride
    (if (i32.eq (i32.load (i32.const 28)) (i32.const 0x65697571)) ;; quie
      (then (return (i64.const 0))))
    (call $status_reason (i32.const 16) (global.get $seen))
    (i64.const 2)))
