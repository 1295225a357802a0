package extender

import (
	"fmt"
	"io"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	logsapi "k8s.io/component-base/logs/api/v1"
	logsjson "k8s.io/component-base/logs/json"
	"k8s.io/klog/v2/textlogger"
)

// The formats of log lines.
const (
	LogText = "text"
	LogJSON = "json"
)

// NewLogger returns a logger of klog's verbosity, 0 to 10. It writes lines of a format to w,
// each in one call. It panics on any other format.
func NewLogger(w io.Writer, format string, verbosity int) logr.Logger {
	switch format {
	case LogText:
		return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w), textlogger.Verbosity(verbosity)))
	case LogJSON:
		logger, _ := logsjson.NewJSONLogger(logsapi.VerbosityLevel(verbosity), zapcore.Lock(zapcore.AddSync(w)), nil, nil)
		return logger
	}
	panic(fmt.Sprintf("extender: unknown log format %q", format))
}
