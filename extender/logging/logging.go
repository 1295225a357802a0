// Package logging makes the extender's structured loggers: lines as Kubernetes
// components write them, as text or JSON, with a level for each named logger. It is no API.
package logging

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	logsapi "k8s.io/component-base/logs/api/v1"
	logsjson "k8s.io/component-base/logs/json"
	"k8s.io/klog/v2/textlogger"
)

// The formats of log lines.
const (
	Text = "text"
	JSON = "json"
)

// New returns a function that makes the logger of a name, at the level that is its own.
// They write lines of a format to w, each in one call. It panics on any other format.
func New(w io.Writer, format string, levels Levels) func(name string) logr.Logger {
	var backend func(Level) logr.Logger
	switch format {
	case Text:
		backend = func(level Level) logr.Logger {
			return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w), textlogger.Verbosity(int(level))))
		}
	case JSON:
		locked := zapcore.Lock(zapcore.AddSync(w))
		backend = func(level Level) logr.Logger {
			logger, _ := logsjson.NewJSONLogger(logsapi.VerbosityLevel(level), locked, nil, nil) // Error wraps, and wraps back to zap's warnings
			return logger
		}
	default:
		panic(fmt.Sprintf("logging: no format is called %q", format))
	}
	return func(name string) logr.Logger { return backend(levels.of(name)).WithName(name) }
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
