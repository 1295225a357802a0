;; A guest that asks about everything in _start and in decides_by, where there is nothing yet. It traps where something is.
(module $early
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/api" "nodeList" (func $node_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "targetPod" (func $target_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "filteredNodeList" (func $filtered_node_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeToStatusMap" (func $node_to_status_map (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeScoreList" (func $node_score_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeImageStates" (func $node_image_states (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "handle.eventrecorder.eventf" (func $eventf (param i32 i32)))
  (import "k8s.io/scheduler" "handle.get_waiting_pod" (func $get_waiting_pod (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "handle.reject_waiting_pod" (func $reject_waiting_pod (param i32 i32 i32 i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 0) "a{\"Reason\": \"Early\"}")
  (func $expect (param $size i32) (param $expected i32)
    (if (i32.ne (local.get $size) (local.get $expected)) (then (unreachable))))
  (func $ask
    (call $expect (call $node (i32.const 0) (i32.const 1) (i32.const 64) (i32.const 64)) (i32.const 0))
    (drop (call $node_list (i32.const 64) (i32.const 64)))
    (call $expect (call $current_node_name (i32.const 64) (i32.const 64)) (i32.const 0))
    (call $expect (call $current_pod (i32.const 64) (i32.const 64)) (i32.const 0))
    (call $expect (call $target_pod (i32.const 64) (i32.const 64)) (i32.const 0))
    (call $expect (call $filtered_node_list (i32.const 64) (i32.const 64)) (i32.const 2)) ;; []
    (call $expect (call $node_to_status_map (i32.const 64) (i32.const 64)) (i32.const 2)) ;; {}
    (call $expect (call $node_score_list (i32.const 64) (i32.const 64)) (i32.const 2)) ;; {}
    (call $expect (call $node_image_states (i32.const 0) (i32.const 1) (i32.const 64) (i32.const 64)) (i32.const 4)) ;; null
    (call $eventf (i32.const 1) (i32.const 19))
    (call $get_waiting_pod (i32.const 0) (i32.const 1) (i32.const 64) (i32.const 64))
    (call $expect (i32.load8_u (i32.const 64)) (i32.const 0))
    (call $reject_waiting_pod (i32.const 0) (i32.const 1) (i32.const 64) (i32.const 64))
    (call $expect (i32.load8_u (i32.const 64)) (i32.const 0)))
  (func (export "_start") (call $ask))
  (func (export "decides_by") (result i64) (call $ask) (i64.const 0))
  (func (export "filter") (result i32)
    (select (i32.const 2) (i32.const 0) (call $current_pod (i32.const 64) (i32.const 0)))))
