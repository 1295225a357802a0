// Package logging makes the extender's structured logger: lines as Kubernetes
// components write them, as text or JSON, with a level for each named logger.
//
// It has no global logger; whoever logs is handed one.
package logging

import (
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	logsjson "k8s.io/component-base/logs/json"
	"k8s.io/klog/v2/textlogger"
)

// The formats of log lines.
const (
	Text = "text"
	JSON = "json"
)

// everything is more verbose than any line: levels decide, not the backend.
const everything = 100

// New returns a logger that writes lines of a format to w. It panics on any other
// format.
func New(w io.Writer, format string, levels Levels) logr.Logger {
	var logger logr.Logger
	switch format {
	case Text:
		logger = textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w), textlogger.Verbosity(everything)))
	case JSON:
		logger, _ = logsjson.NewJSONLogger(everything, zapcore.Lock(zapcore.AddSync(w)), nil, nil)
	default:
		panic(fmt.Sprintf("logging: no format is called %q", format))
	}
	// One frame deeper than the backend expects: sink's own.
	return logr.New(&sink{inner: logger.WithCallDepth(1).GetSink(), levels: levels})
}

// sink lets through what the level of its name allows.
type sink struct {
	inner  logr.LogSink
	name   string
	levels Levels
}

// Init does nothing: the backend is set up already.
func (s *sink) Init(logr.RuntimeInfo) {}

func (s *sink) Enabled(level int) bool { return Level(level) <= s.levels.of(s.name) }

func (s *sink) Info(level int, message string, keysAndValues ...any) {
	s.inner.Info(level, message, keysAndValues...)
}

func (s *sink) Error(err error, message string, keysAndValues ...any) {
	s.inner.Error(err, message, keysAndValues...)
}

func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return &sink{inner: s.inner.WithValues(keysAndValues...), name: s.name, levels: s.levels}
}

func (s *sink) WithName(name string) logr.LogSink {
	inner := s.inner.WithName(name)
	if s.name != "" {
		name = s.name + "." + name
	}
	return &sink{inner: inner, name: name, levels: s.levels}
}

func (s *sink) WithCallDepth(depth int) logr.LogSink {
	deeper := *s
	if inner, ok := s.inner.(logr.CallDepthLogSink); ok {
		deeper.inner = inner.WithCallDepth(depth)
	}
	return &deeper
}
