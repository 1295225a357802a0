;; A filter without an exported memory: the host cannot read or write.
(module $no_memory
  (func (export "filter") (result i32) (i32.const 0)))
