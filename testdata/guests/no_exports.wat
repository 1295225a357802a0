;; A valid module that exports no plugin function: there is nothing to call.
(module $no_exports
  (memory (export "memory") 1 1)
  (func (export "_start")))
