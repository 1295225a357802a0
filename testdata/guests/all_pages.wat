;; A guest that asks for all 65,536 pages in each Filter, and then reads a byte of its first one.
(module $all_pages
  (memory (export "memory") 1 65536)
  (func $filter (export "filter") (result i32)
    (drop (memory.grow (i32.const 65535)))
    (i32.load8_u (i32.const 0))))
