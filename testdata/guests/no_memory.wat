;; A filter without an exported memory: the host has nowhere to read or write.
(module $no_memory
  (func (export "filter") (result i32) (i32.const 0)))
