;; A guest that hands over as much as its guestConfig says, in every hook that has
;; something to hand over: a letter for the host function (see $hand), how often it
;; is called, a comma, how many bytes it gets each time, a colon, and a text that is
;; repeated until there are as many.
(module $generous
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/klog" "logs" (func $logs (param i32 i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (import "k8s.io/scheduler" "result.node_names" (func $node_names (param i32 i32)))
  (import "k8s.io/scheduler" "result.nominated_node_name" (func $nominated (param i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list" (func $scores (param i32 i32)))
  (import "k8s.io/scheduler" "handle.eventrecorder.eventf" (func $eventf (param i32 i32)))
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  ;; The config stands at 0, what is handed over from 65536 on.
  (memory (export "memory") 2)
  (global $at (mut i32) (i32.const 0)) ;; where the config is read

  ;; number reads digits, and what ends them.
  (func $number (result i32)
    (local $n i32) (local $digit i32)
    (loop $next
      (local.set $digit (i32.sub (i32.load8_u (global.get $at)) (i32.const 0x30)))
      (global.set $at (i32.add (global.get $at) (i32.const 1)))
      (if (i32.lt_u (local.get $digit) (i32.const 10))
        (then
          (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 10)) (local.get $digit)))
          (br $next))))
    (local.get $n))

  ;; fill repeats the text.
  (func $fill (param $size i32) (param $text i32)
    (local $done i32) (local $more i32)
    (if (i32.gt_u (local.get $size) (i32.shl (i32.sub (memory.size) (i32.const 1)) (i32.const 16)))
      (then (drop (memory.grow (i32.shr_u (local.get $size) (i32.const 16))))))
    (memory.copy (i32.const 65536) (global.get $at) (local.get $text))
    (local.set $done (local.get $text))
    (loop $next
      (local.set $more (i32.sub (local.get $size) (local.get $done)))
      (if (i32.gt_s (local.get $more) (i32.const 0))
        (then
          (if (i32.gt_u (local.get $more) (local.get $done)) (then (local.set $more (local.get $done))))
          (memory.copy (i32.add (i32.const 65536) (local.get $done)) (i32.const 65536) (local.get $more))
          (local.set $done (i32.add (local.get $done) (local.get $more)))
          (br $next)))))

  (func $hand (param $letter i32) (param $size i32)
    (if (i32.eq (local.get $letter) (i32.const 0x63)) ;; c
      (then (call $cluster_events (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x65)) ;; e
      (then (call $eventf (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6b)) ;; k: keys and values
      (then (call $logs (i32.const 0) (i32.const 65536) (i32.const 1) (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6c)) ;; l
      (then (call $log (i32.const 0) (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6d)) ;; m
      (then (call $nominated (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6e)) ;; n
      (then (call $node_names (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6f)) ;; o: the name of a node
      (then (drop (call $node (i32.const 65536) (local.get $size) (i32.const 0) (i32.const 0)))))
    (if (i32.eq (local.get $letter) (i32.const 0x72)) ;; r
      (then (call $reason (i32.const 65536) (local.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x73)) ;; s
      (then (call $scores (i32.const 65536) (local.get $size)))))

  (func $all (result i32)
    (local $config i32) (local $times i32) (local $size i32)
    (local.set $config (call $get_config (i32.const 0) (i32.const 65536)))
    (global.set $at (i32.const 1))
    (local.set $times (call $number))
    (local.set $size (call $number))
    (call $fill (local.get $size) (i32.sub (local.get $config) (global.get $at)))
    (loop $next
      (call $hand (i32.load8_u (i32.const 0)) (local.get $size))
      (br_if $next (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (i32.mul (i32.const 2) (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x72)))) ;; Unschedulable, with a reason

  (func (export "enqueue")
    (drop (call $get_config (i32.const 0) (i32.const 65536)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x63)) (then (drop (call $all)))))
  (func (export "prefilter") (result i32) (call $all))
  (func (export "filter") (result i32) (call $all))
  (func (export "postfilter") (result i64) (i64.extend_i32_u (call $all)))
  (func (export "score") (result i64) (i64.const 0))
  (func (export "normalizescore") (result i32) (call $all)))
