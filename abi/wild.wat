;; A guest that gives a host function an address outside of its memory, in Filter:
;; guestConfig's first digit picks the function.
(module $wild
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "handle.eventrecorder.eventf" (func $eventf (param i32 i32)))
  (import "k8s.io/scheduler" "result.node_names" (func $node_names (param i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "no event")
  (func (export "filter") (result i32)
    (local $digit i32)
    (drop (call $get_config (i32.const 1024) (i32.const 16)))
    (local.set $digit (i32.load8_u (i32.const 1024)))
    (if (i32.eq (local.get $digit) (i32.const 0x30)) ;; 0
      (then (call $status_reason (i32.const -16) (i32.const 10))))
    (if (i32.eq (local.get $digit) (i32.const 0x31)) ;; 1
      (then (call $node_names (i32.const -16) (i32.const 10))))
    (if (i32.eq (local.get $digit) (i32.const 0x32)) ;; 2
      (then (drop (call $current_pod (i32.const -16) (i32.const 10000)))))
    (if (i32.eq (local.get $digit) (i32.const 0x33)) ;; 3
      (then
        (if (i32.eq (call $current_node_name (i32.const -16) (i32.const 253)) (i32.const 9))
          (then (return (i32.const 2))))))
    (if (i32.eq (local.get $digit) (i32.const 0x34)) ;; 4
      (then (drop (call $node (i32.const -16) (i32.const 10) (i32.const 0) (i32.const 100)))))
    (if (i32.eq (local.get $digit) (i32.const 0x35)) ;; 5
      (then (call $log (i32.const 0) (i32.const -16) (i32.const 10))))
    (if (i32.eq (local.get $digit) (i32.const 0x36)) ;; 6: in memory, but no JSON
      (then (call $eventf (i32.const 0) (i32.const 8))))
    (i32.const 2)))
