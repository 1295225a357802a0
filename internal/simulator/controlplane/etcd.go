package controlplane

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
)

// revisions are how many etcd keeps, of all objects together. Without a watch cache
// an informer of a kind that does not change goes on from the revision that it last
// knows, minutes later; if that is gone, it lists all again and warns.
const revisions = 10_000

// etcdServer is an etcd of one member. It listens on a unix socket in a
// directory that only this user may enter, which keeps others out without the
// cost of TLS, and on nothing else.
type etcdServer struct {
	endpoint string
	etcd     *embed.Etcd
	grpc     *grpc.Server
}

func startEtcd(dir *dataDir) (s *etcdServer, err error) {
	s = &etcdServer{endpoint: "unix://" + dir.socket()}
	cfg := embed.NewConfig()
	cfg.Dir = dir.path(etcdDir)
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger("etcd").WithOptions(zap.WithPanicHook(crash{dir}), zap.WithFatalHook(crash{dir})))
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Path: dir.socket()}}
	// A single member has no peers: the advertised addresses only satisfy
	// etcd's checks and its membership record, and are not dialled.
	cfg.ListenPeerUrls = nil
	// There is no other candidate, so waiting long for one is only delay: it is
	// over before kube-apiserver is built. Shorter ticks wake an idle process more often.
	cfg.TickMs, cfg.ElectionMs = 100, 500
	cfg.PreVote = false
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModeRevision, strconv.Itoa(revisions)
	// Unset, it logs each request as a slow one.
	cfg.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration
	cfg.EnableGRPCGateway = false
	// A temporary cluster has nothing to lose in a power cut.
	cfg.UnsafeNoFsync = dir.temporary
	// The only way to the grpc server, which stop needs.
	cfg.ServiceRegister = func(g *grpc.Server) { s.grpc = g }

	if s.etcd, err = embed.StartEtcd(cfg); err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", cfg.Dir, dir.explain(err))
	}
	return s, nil
}

// waitReady waits until etcd has elected itself. Requests that are made before that
// wait with it.
func (s *etcdServer) waitReady(dir *dataDir) error {
	select {
	case <-s.etcd.Server.ReadyNotify():
		return nil
	case <-s.ended():
		return fmt.Errorf("start etcd in %s: it stopped at once: see %s", s.etcd.Config().Dir, dir.path(LogFile))
	}
}

func (s *etcdServer) ended() <-chan struct{} { return s.etcd.Server.StopNotify() }

func (s *etcdServer) stop() {
	// Left to itself, etcd waits seconds for watches that a client forgot.
	if s.grpc != nil {
		s.grpc.Stop()
	}
	s.etcd.Close()
}

// crash is what etcd calls when it cannot go on, in place of a panic or an exit without a
// word: a full disk is the most likely cause. Its own goroutines fail, which cannot be recovered.
type crash struct{ dir *dataDir }

// OnWrite does not return.
func (c crash) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		cause, ok := field.Interface.(error)
		if ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	fmt.Fprintf(os.Stderr, "simulator: etcd: %v\n", c.dir.explain(err))
	_ = c.dir.close()
	os.Exit(1)
}

// explain says what to do about a full disk.
func (d *dataDir) explain(err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EFBIG) {
		return err
	}
	other := "another directory as --data-dir"
	if d.temporary {
		other = "a directory on another disk as TMPDIR"
	}
	return fmt.Errorf("%w: there is no room in %s: make some (etcd takes 130 MB at its start), or give %s", err, d.root, other)
}
