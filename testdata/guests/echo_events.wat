;; A guest that registers for the events in its guestConfig: pairs of resource and
;; ActionType, each 4 bytes.
(module $echo_events
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (memory (export "memory") 1 1)
  (func (export "enqueue")
    (call $cluster_events (i32.const 0) (call $get_config (i32.const 0) (i32.const 4096))))
  (func (export "filter") (result i32) (i32.const 0)))
