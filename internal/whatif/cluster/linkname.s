// Empty: with it the compiler accepts functions without a body, which go:linkname gives one.
