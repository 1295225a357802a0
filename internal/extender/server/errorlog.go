package server

import (
	"log"
	"strings"

	"github.com/go-logr/logr"
)

// errorLog gives what net/http has to say to our logger.
func errorLog(logger logr.Logger) *log.Logger {
	return log.New(errorWriter{logger}, "", 0)
}

type errorWriter struct{ logger logr.Logger }

func (w errorWriter) Write(line []byte) (int, error) {
	w.logger.Info("The HTTP server complains", "line", strings.TrimSpace(string(line)))
	return len(line), nil
}
