// Package logging makes the extender's structured logger: lines as Kubernetes
// components write them, as text or JSON, with a level for each named logger.
//
// It has no global logger; whoever logs is handed one.
package logging

import (
	"fmt"
	"io"
	"strings"

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
	return logr.New(&sink{LogSink: logger.GetSink(), level: levels.of(""), levels: levels})
}

// sink lets through what the level of its name allows.
type sink struct {
	logr.LogSink
	name   string
	level  Level // of the name
	levels Levels
}

// Init does nothing: the backend is set up already.
func (s *sink) Init(logr.RuntimeInfo) {}

func (s *sink) Enabled(level int) bool { return Level(level) <= s.level }

func (s *sink) with(inner logr.LogSink) *sink {
	return &sink{LogSink: inner, name: s.name, level: s.level, levels: s.levels}
}

func (s *sink) WithValues(keysAndValues ...any) logr.LogSink {
	return s.with(s.LogSink.WithValues(keysAndValues...))
}

func (s *sink) WithName(name string) logr.LogSink {
	deeper := s.with(s.LogSink.WithName(name))
	deeper.name = strings.TrimPrefix(s.name+"."+name, ".")
	deeper.level = s.levels.of(deeper.name)
	return deeper
}

// WithCallDepth implements logr.CallDepthLogSink, as both backends do.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	return s.with(s.LogSink.(logr.CallDepthLogSink).WithCallDepth(depth))
}
