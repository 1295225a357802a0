package controlplane

import (
	"fmt"
	"io"
	"os"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logSink is where one cluster's warnings and errors go. It stays safe to write
// to after close, since Kubernetes goroutines outlive their server by moments.
type logSink struct {
	mu   sync.Mutex
	to   io.Writer
	file *os.File // what close closes; nil when the caller gave the writer
}

// openLogs takes over the process's loggers for as long as the sink is open.
func openLogs(to io.Writer, path string) (*logSink, error) {
	s := &logSink{to: to}
	if to == nil {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("log file: %w", err)
		}
		s.to, s.file = f, f
	}
	TakeLoggers()
	shared.add(s)
	return s, nil
}

// Write never fails: a full disk must not turn a log line into a crash.
func (s *logSink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.to != nil {
		_, _ = s.to.Write(p)
	}
	return len(p), nil
}

func (s *logSink) close() error {
	shared.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func (s *logSink) zap(name string) *zap.Logger { return zapTo(s, name) }

// zapTo makes a logger of warnings and errors.
func zapTo(w io.Writer, name string) *zap.Logger {
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(config)
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(w), zap.WarnLevel)).Named(name)
}

// fanOut writes to every sink that is open, and to nobody when none is.
type fanOut struct {
	mu    sync.Mutex
	sinks map[*logSink]struct{}
}

func (f *fanOut) add(s *logSink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sinks[s] = struct{}{}
}

func (f *fanOut) remove(s *logSink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sinks, s)
}

func (f *fanOut) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.sinks {
		_, _ = s.Write(p)
	}
	return len(p), nil
}
