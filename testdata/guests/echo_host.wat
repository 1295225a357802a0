;; A guest that says in its reasons, in hexadecimal, what a host function gives it,
;; in whatever hook it is called. guestConfig has two letters or more:
;;   first: the function (see $ask); second: the digit of the code to answer with;
;;   third, where it is "s": the function gets a buffer of 3 bytes, and the reason
;;   is the size that it returned, in 4 bytes; for r and w: the uid of a pod.
(module $echo_host
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/api" "nodeList" (func $node_list (param i32 i32) (result i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/klog" "severity" (func $severity (result i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentPod" (func $current_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "targetPod" (func $target_pod (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "currentNodeName" (func $current_node_name (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "filteredNodeList" (func $filtered_node_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeToStatusMap" (func $node_to_status_map (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeScoreList" (func $node_score_list (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "nodeImageStates" (func $node_image_states (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/scheduler" "handle.get_waiting_pod" (func $get_waiting_pod (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "handle.reject_waiting_pod" (func $reject_waiting_pod (param i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $status_reason (param i32 i32)))
  (memory (export "memory") 4 4)
  ;; 0: the config; 1024: the node's name; 65536: what the function gives; 196608:
  ;; the same in hexadecimal.
  (data (i32.const 4096) "0123456789abcdef")
  (global $config (mut i32) (i32.const 0)) ;; its size
  (global $name (mut i32) (i32.const 0))   ;; the name's

  (func $is (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (i32.const 0)) (local.get $letter)))

  (func $ask (param $limit i32) (result i32)
    (if (call $is (i32.const 0x70)) ;; p
      (then (return (call $current_pod (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x74)) ;; t
      (then (return (call $target_pod (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x6e)) ;; n
      (then (return (call $current_node_name (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x64)) ;; d
      (then (return (call $node (i32.const 1024) (global.get $name) (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x75)) ;; u: a node that there is not
      (then (return (call $node (i32.const 0) (i32.const 2) (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x6c)) ;; l
      (then (return (call $node_list (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x66)) ;; f
      (then (return (call $filtered_node_list (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x73)) ;; s
      (then (return (call $node_to_status_map (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x63)) ;; c
      (then (return (call $node_score_list (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x69)) ;; i
      (then (return (call $node_image_states (i32.const 1024) (global.get $name) (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x67)) ;; g
      (then (return (call $get_config (i32.const 65536) (local.get $limit)))))
    (if (call $is (i32.const 0x76)) ;; v
      (then
        (i32.store8 (i32.const 65536) (i32.add (i32.const 0x30) (call $severity)))
        (return (i32.const 1))))
    (if (call $is (i32.const 0x72)) ;; r
      (then
        (call $reject_waiting_pod (i32.const 2) (i32.sub (global.get $config) (i32.const 2))
          (i32.const 65536) (i32.const 8))
        (return (i32.const 8))))
    (if (call $is (i32.const 0x77)) ;; w
      (then (return (call $wait (local.get $limit)))))
    (unreachable))

  ;; The size of a waiting pod is unknown: what follows it is still 255.
  (func $wait (param $limit i32) (result i32)
    (local $end i32)
    (memory.fill (i32.const 65536) (i32.const 255) (local.get $limit))
    (call $get_waiting_pod (i32.const 2) (i32.sub (global.get $config) (i32.const 2))
      (i32.const 65536) (local.get $limit))
    (local.set $end (local.get $limit))
    (loop $before
      (local.set $end (i32.sub (local.get $end) (i32.const 1)))
      (br_if $before (i32.eq (i32.load8_u (i32.add (i32.const 65536) (local.get $end))) (i32.const 255))))
    (i32.add (local.get $end) (i32.const 1)))

  ;; Returns the size of what is at 65536.
  (func $read (result i32)
    (local $size i32)
    (global.set $config (call $get_config (i32.const 0) (i32.const 256)))
    (global.set $name (call $current_node_name (i32.const 1024) (i32.const 253)))
    (if (i32.ne (i32.load8_u (i32.const 2)) (i32.const 0x73)) ;; s
      (then (return (call $ask (i32.const 131072)))))
    (i32.store (i32.const 2048) (call $ask (i32.const 3)))
    (i32.store (i32.const 65536) (i32.load (i32.const 2048)))
    (i32.const 4))

  ;; hex writes bytes in hexadecimal: a reason is a text, which a host may mend.
  (func $hex (param $from i32) (param $size i32) (param $to i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $from) (local.get $size)))
    (block $done
      (loop $next
        (br_if $done (i32.eq (local.get $from) (local.get $end)))
        (i32.store8 (local.get $to)
          (i32.load8_u offset=4096 (i32.shr_u (i32.load8_u (local.get $from)) (i32.const 4))))
        (i32.store8 offset=1 (local.get $to)
          (i32.load8_u offset=4096 (i32.and (i32.load8_u (local.get $from)) (i32.const 15))))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $to (i32.add (local.get $to) (i32.const 2)))
        (br $next))))

  (func $echo (result i32)
    (local $size i32)
    (local.set $size (call $read))
    (call $hex (i32.const 65536) (local.get $size) (i32.const 196608))
    (call $status_reason (i32.const 196608) (i32.shl (local.get $size) (i32.const 1)))
    (i32.sub (i32.load8_u (i32.const 1)) (i32.const 0x30)))

  (func (export "prefilter") (result i32) (call $echo))
  (func (export "addpod") (result i32) (call $echo))
  (func (export "removepod") (result i32) (call $echo))
  (func (export "filter") (result i32) (call $echo))
  ;; The upper half is the nominating mode.
  (func (export "postfilter") (result i64) (i64.extend_i32_u (call $echo)))
  (func (export "prescore") (result i32) (call $echo))
  ;; The upper half is the score.
  (func (export "score") (result i64)
    (i64.or (i64.shl (i64.const 42) (i64.const 32)) (i64.extend_i32_u (call $echo))))
  (func (export "normalizescore") (result i32) (call $echo))
  (func (export "reserve") (result i32) (call $echo))
  (func (export "unreserve") (call $log (i32.const 0) (i32.const 65536) (call $read)))
  ;; The upper half is the code, the lower one milliseconds.
  (func (export "permit") (result i64)
    (i64.or (i64.shl (i64.extend_i32_u (call $echo)) (i64.const 32)) (i64.const 1500)))
  (func (export "prebind") (result i32) (call $echo))
  (func (export "bind") (result i32) (call $echo))
  (func (export "postbind") (call $log (i32.const 0) (i32.const 65536) (call $read))))
