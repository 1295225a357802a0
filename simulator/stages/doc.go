// Package stages reads KWOK's Stage files and answers, for an object, which stage
// comes next, after what delay, and what each of its steps is to write.
//
// It reads them as a whole or not at all: what cannot be honoured is refused when
// the file is read, with the line and how to mend it, and every expression and
// template is compiled then. What it means is what KWOK does with it, quirks
// included.
//
// What it is not: it asks no API server and writes nothing. Package player does.
package stages
