// Package logging makes the extender's structured logger: lines as Kubernetes
// components write them, as text or JSON, with a level for each named logger.
//
// It has no global logger; whoever logs is handed one.
package logging

import (
	"fmt"
	"io"
	"strconv"
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

// A Level is how verbose a logger is: klog's -v from 0 to 10, or -1 for errors
// alone. In a config it is such a number or one of the names.
type Level int

// The levels that have names; warning is another name for info.
const (
	Error Level = -1
	Info  Level = 0
	Debug Level = 4
	Trace Level = 8
)

var levelNames = map[string]Level{"error": Error, "warning": Info, "info": Info, "debug": Debug, "trace": Trace}

// ParseLevel reads a level by name, in any case, or by number.
func ParseLevel(text string) (Level, error) {
	if level, ok := levelNames[strings.ToLower(text)]; ok {
		return level, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < int(Error) || n > 10 {
		return 0, fmt.Errorf("%q is no level: must be error, warning, info, debug, trace or a number from 0 to 10", text)
	}
	return Level(n), nil
}

// UnmarshalJSON reads a level from a string or a number.
func (l *Level) UnmarshalJSON(data []byte) (err error) {
	*l, err = ParseLevel(strings.Trim(string(data), `"`))
	return err
}

// String is the name of the level, or its number.
func (l Level) String() string {
	for _, name := range []string{"error", "info", "debug", "trace"} {
		if levelNames[name] == l {
			return name
		}
	}
	return strconv.Itoa(int(l))
}

// MarshalText writes the name or the number.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Default is the name under which the level of all loggers is set that have
// none of their own.
const Default = "default"

// Levels are those of loggers by name, which hold for the ones below too (algorithm
// for algorithm.load), or for all others by Default. Without any it is info.
type Levels map[string]Level

// of is the level of the logger with that name, or of the nearest above it.
func (l Levels) of(name string) Level {
	for name != "" {
		if level, ok := l[name]; ok {
			return level
		}
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
	return l[Default]
}
