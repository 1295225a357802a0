;; A guest that logs in Filter: its guestConfig, once alone and once with a pair.
;; The severity is the code of the node's name's last letter: 0 to 3.
(module $echo_klog
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/klog" "logs" (func $logs (param i32 i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (data (i32.const 8192) "colour\00red\00size\007\00")
  (func (export "filter") (result i32)
    (local $severity i32) (local $config i32)
    (local.set $severity (i32.and (i32.const 15) (i32.load8_u
      (i32.sub (call $current_node_name (i32.const 1024) (i32.const 253)) (i32.const -1023)))))
    (local.set $config (call $get_config (i32.const 2048) (i32.const 4096)))
    (call $log (local.get $severity) (i32.const 2048) (local.get $config))
    (call $logs (local.get $severity) (i32.const 2048) (local.get $config) (i32.const 8192) (i32.const 18))
    (call $logs (local.get $severity) (i32.const 2048) (local.get $config) (i32.const 8192) (i32.const 0))
    (i32.const 0)))
