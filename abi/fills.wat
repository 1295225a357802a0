;; A guest that hands over a text of a size, in prefilter, and of clusterEvents and fields at its start. guestConfig has a letter for the
;; function (see $hand), how often it is called, a comma, how many bytes it gets, a colon, and three parts of the text between bars:
;; its beginning, what is repeated to fill it, and its end. Called more than once, each text begins with its number.
(module $fills
  (import "k8s.io/api" "node" (func $node (param i32 i32 i32 i32) (result i32)))
  (import "k8s.io/klog" "log" (func $log (param i32 i32 i32)))
  (import "k8s.io/klog" "logs" (func $logs (param i32 i32 i32 i32 i32)))
  (import "k8s.io/scheduler" "get_config" (func $get_config (param i32 i32) (result i32)))
  (import "k8s.io/scheduler" "result.cluster_events" (func $cluster_events (param i32 i32)))
  (import "k8s.io/scheduler" "result.node_names" (func $node_names (param i32 i32)))
  (import "k8s.io/scheduler" "result.nominated_node_name" (func $nominated (param i32 i32)))
  (import "k8s.io/scheduler" "result.status_reason" (func $reason (param i32 i32)))
  (import "k8s.io/scheduler" "result.normalized_score_list" (func $scores (param i32 i32)))
  (import "k8s.io/scheduler" "handle.eventrecorder.eventf" (func $eventf (param i32 i32)))
  (import "k8s.io/scheduler" "handle.get_waiting_pod" (func $waiting (param i32 i32 i32 i32)))
  (memory (export "memory") 70)
  (global $at (mut i32) (i32.const 0))   ;; where the config is read
  (global $size (mut i32) (i32.const 0)) ;; of the text, which is at 65536

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

  ;; part returns the size of the next part, which is at $at, and ends with a bar or at 0.
  (func $part (result i32)
    (local $end i32) (local $byte i32)
    (local.set $end (global.get $at))
    (loop $next
      (if (i32.ne (i32.load8_u (local.get $end)) (i32.const 0x7c))
        (then
          (local.set $end (i32.add (local.get $end) (i32.const 1)))
          (br $next))))
    (i32.sub (local.get $end) (global.get $at)))

  (func $fill
    (local $begin i32) (local $part i32) (local $to i32) (local $last i32) (local $end i32)
    (local.set $begin (call $part))
    (memory.copy (i32.const 65536) (global.get $at) (local.get $begin))
    (local.set $to (i32.add (i32.const 65536) (local.get $begin)))
    (global.set $at (i32.add (global.get $at) (i32.add (local.get $begin) (i32.const 1))))
    (local.set $part (call $part))
    (local.set $begin (global.get $at))
    (global.set $at (i32.add (global.get $at) (i32.add (local.get $part) (i32.const 1))))
    (local.set $end (call $part))
    (local.set $last (i32.sub (i32.add (i32.const 65536) (global.get $size)) (local.get $end)))
    (if (local.get $part)
      (then
        (loop $next
          (if (i32.lt_u (local.get $to) (local.get $last))
            (then
              (memory.copy (local.get $to) (local.get $begin) (local.get $part))
              (local.set $to (i32.add (local.get $to) (local.get $part)))
              (br $next))))))
    (memory.copy (local.get $last) (global.get $at) (local.get $end)))

  (func $hand (param $letter i32)
    (if (i32.eq (local.get $letter) (i32.const 0x65)) ;; e
      (then (call $eventf (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6b)) ;; k: keys and values
      (then (call $logs (i32.const 0) (i32.const 65536) (i32.const 1) (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6c)) ;; l
      (then (call $log (i32.const 0) (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6d)) ;; m
      (then (call $nominated (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6e)) ;; n
      (then (call $node_names (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x6f)) ;; o: the name of a node
      (then (drop (call $node (i32.const 65536) (global.get $size) (i32.const 0) (i32.const 0)))))
    (if (i32.eq (local.get $letter) (i32.const 0x72)) ;; r
      (then (call $reason (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x73)) ;; s
      (then (call $scores (i32.const 65536) (global.get $size))))
    (if (i32.eq (local.get $letter) (i32.const 0x77)) ;; w: the UID of a pod
      (then (call $waiting (i32.const 65536) (global.get $size) (i32.const 0) (i32.const 0)))))

  ;; begin writes a number in five digits.
  (func $begin (param $n i32)
    (local $at i32)
    (local.set $at (i32.const 65541))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at) (i32.add (i32.const 0x30) (i32.rem_u (local.get $n) (i32.const 10))))
      (local.set $n (i32.div_u (local.get $n) (i32.const 10)))
      (br_if $next (i32.gt_u (local.get $at) (i32.const 65536)))))

  ;; read makes the text, and returns how often it is handed over.
  (func $read (result i32)
    (local $times i32)
    (i32.store8 (call $get_config (i32.const 0) (i32.const 65000)) (i32.const 0x7c))
    (global.set $at (i32.const 1))
    (local.set $times (call $number))
    (global.set $size (call $number))
    (call $fill)
    (local.get $times))

  (func $all (result i32)
    (local $times i32) (local $n i32)
    (local.set $times (call $read))
    (loop $next
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (if (i32.and (i32.gt_u (local.get $times) (i32.const 1)) (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x72)))
        (then (call $begin (local.get $n))))
      (call $hand (i32.load8_u (i32.const 0)))
      (br_if $next (i32.lt_u (local.get $n) (local.get $times))))
    (i32.mul (i32.const 2) (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x72)))) ;; Unschedulable, with a reason

  (func (export "enqueue")
    (drop (call $get_config (i32.const 0) (i32.const 65000)))
    (if (i32.eq (i32.load8_u (i32.const 0)) (i32.const 0x63)) ;; c
      (then
        (drop (call $read))
        (call $cluster_events (i32.const 65536) (global.get $size)))))
  (func (export "decides_by") (result i64)
    (drop (call $get_config (i32.const 0) (i32.const 65000)))
    (if (i32.ne (i32.load8_u (i32.const 0)) (i32.const 0x64)) (then (return (i64.const 0)))) ;; d
    (drop (call $read))
    (i64.or (i64.const 0x1000000000000) (i64.extend_i32_u (global.get $size))))
  (func (export "prefilter") (result i32) (call $all))
  (func (export "filter") (result i32) (i32.const 0))
  (func (export "postfilter") (result i64) (i64.extend_i32_u (call $all)))
  (func (export "score") (result i64) (i64.const 0))
  (func (export "normalizescore") (result i32) (call $all)))
