;; A guest whose pods stay pending for one of two things: a node whose name begins with
;; "k", or "letg" somewhere in the pod. It registers for exactly these events,
;; with the numbers that Kubernetes 1.32 gives them.
(module $patient
  (import "k8s.io/scheduler" "currentNodeName"
    (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod"
    (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events"
    (func $cluster_events (param i32 i32)))
  (memory (export "memory") 2 2)
  ;; Pairs of resource and ActionType: Pod (0) Update (8188), Node (1) Add (1).
  (data (i32.const 0) "\00\00\00\00\fc\1f\00\00" "\01\00\00\00\01\00\00\00")
  (func (export "enqueue") (call $cluster_events (i32.const 0) (i32.const 16)))
  (func (export "filter") (result i32)
    (local $at i32) (local $end i32)
    (drop (call $current_node_name (i32.const 16) (i32.const 253)))
    (if (i32.eq (i32.load8_u (i32.const 16)) (i32.const 0x6b)) ;; k
      (then (return (i32.const 0))))
    (local.set $at (i32.const 1024))
    (local.set $end (i32.add (local.get $at)
      (call $current_pod (i32.const 1024) (i32.const 65536))))
    (loop $next
      (if (i32.eq (i32.load (local.get $at)) (i32.const 0x6774656c)) ;; letg
        (then (return (i32.const 0))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 3)))
