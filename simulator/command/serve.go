package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/api"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot/digest"
)

// serve runs a simulator and its server until ctx is done, or a request ends it. The server is open from the first moment:
// a port that is taken is an error at once, and a browser sees the start.
func serve(ctx context.Context, o *options, out, errOut io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := errors.Join(o.Check(), o.checkCopy()); err != nil {
		return cli.Usage(err)
	}
	starting := page.NewStarting()
	server, err := api.Listen(o.listen, o.port, "--port", starting)
	if err != nil {
		return err
	}
	defer server.Stop()
	if o.from != "" || o.cluster.Kubeconfig != "" {
		starting.Say("reading the cluster to copy")
	}
	err = o.readFiles(ctx, errOut)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx) // the file that was being read is not at fault
	case err != nil:
		return err
	}
	o.Warnings = warnings{errOut}
	if server.Public() {
		fmt.Fprintf(o.Warnings, "warning: --listen %s: there is no password: who reaches this address can do everything with the cluster, "+
			"and make this process fetch any URL and file as a guest\n", o.listen)
	}
	began := time.Now()
	line := func(text string) { fmt.Fprintf(out, "%5.1fs  %s\n", time.Since(began).Seconds(), text) }
	o.Progress = func(step string) {
		line(step)
		starting.Say(step)
	}
	imported := func(done, of int) {
		starting.Progress(done, of)
		if done*10/of != (done-1)*10/of {
			line(fmt.Sprintf("imported %d of %d objects", done, of))
		}
	}
	s, err := simulator.Start(ctx, o.Config)
	if err != nil {
		return withFlag(err, o.Config)
	}
	o.Progress("pods are being scheduled")
	handler, err := o.open(ctx, s, imported, end, out)
	if err != nil {
		return errors.Join(err, stop(s, out))
	}
	server.Handle(handler)
	announce(o, s, server.URL(), out)
	select {
	case <-ctx.Done():
		return stop(s, out)
	case <-s.Done():
		return errors.Join(s.Err(), stop(s, out))
	}
}

// checkCopy checks the flags of the cluster to copy.
func (o *options) checkCopy() error {
	switch {
	case o.from != "" && o.cluster.Kubeconfig != "":
		return errors.New("--from and --kubeconfig: choose one of the two")
	case o.from == "" && o.cluster.Kubeconfig == "":
		return o.cluster.Check()
	}
	return nil
}

// readFiles reads the files of flags, and the cluster to copy, before a cluster is started.
func (o *options) readFiles(ctx context.Context, errOut io.Writer) (err error) {
	if o.confFile != "" {
		o.SchedulerConfig, err = readAll(ctx, o.confFile)
		if err != nil {
			return fmt.Errorf("--config: %w", err)
		}
	}
	switch {
	case o.from != "":
		err = o.readFrom(ctx)
	case o.cluster.Kubeconfig != "":
		o.objects, err = readCluster(ctx, o.cluster, newPrinter(errOut))
		if err == nil {
			o.notices = o.objects.OneByOne()
			err = digest.Snapshot(o.objects, o.cluster.Annotations) // as an export of it leaves the house
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	o.Importing = true
	o.PodGroups = o.PodGroups || len(o.objects.PodGroups) > 0
	return nil
}

func (o *options) readFrom(ctx context.Context) (err error) {
	o.objects, o.notices, err = readSnapshot(ctx, o.stdin, o.from, o.maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return err // which names it
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.from, err)
	}
	if o.objectsOnly {
		o.objects.SchedulerConfig = nil
	}
	return nil
}

// open imports what there is to begin with, and returns the API and the page.
func (o *options) open(ctx context.Context, s *simulator.Simulator, imported func(done, of int), end func(), out io.Writer) (http.Handler, error) {
	if o.objects != nil {
		o.Progress("importing the objects")
		if err := o.importFirst(ctx, s, imported, out); err != nil {
			return nil, err
		}
	}
	if o.example {
		if err := s.Import(ctx, simulator.Example(), nil); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", api.Handler(s, end))
	if o.headless {
		return mux, nil
	}
	pages, err := page.New(ctx, s)
	if err != nil {
		return nil, err
	}
	mux.Handle("/", pages)
	return mux, nil
}

// importFirst begins with a snapshot. It lists what cannot be imported, and goes on
// with the rest.
func (o *options) importFirst(ctx context.Context, s *simulator.Simulator, imported func(done, of int), out io.Writer) error {
	err := s.ImportFirst(ctx, o.objects, imported)
	rejected := snapshot.NotImported(nil)
	if err != nil && !errors.As(err, &rejected) {
		if o.from != "" {
			err = fmt.Errorf("%s: %w", o.from, err)
		}
		return err
	}
	printable.Fprintf(out, "         this is %s\n", o.objects.Source)
	list(out, "not imported", rejected)
	list(out, "note", o.notices)
	return nil
}

func announce(o *options, s *simulator.Simulator, url string, out io.Writer) {
	page := "page         " + url + "\n  "
	first := "Open the page, or try it"
	if o.headless {
		page = ""
		first = "Try it"
	}
	fmt.Fprintf(out, `
  %sAPI          %s/api/v1/
  API server   %s
  kubeconfig   %s
  web server   %s

%s in another terminal:

  export KUBECONFIG=%s
  kubectl get nodes

Ctrl-C stops everything.
`, page, url, s.Host(), s.Kubeconfig(), s.WebServer(), first, cli.Shell([]string{s.Kubeconfig()}))
}

// withFlag names the flag that changes a port that is taken.
func withFlag(err error, cfg simulator.Config) error {
	var open *net.OpError
	if errors.Is(err, syscall.EADDRINUSE) && errors.As(err, &open) {
		for flag, port := range map[string]int{"--web-port": cfg.WebPort, "--api-port": cfg.APIPort} {
			taken, ok := open.Addr.(*net.TCPAddr)
			if ok && taken.Port == port {
				return api.PortTaken(port, flag)
			}
		}
	}
	return err
}

// warnings are written as errors are.
type warnings struct{ to io.Writer }

func (w warnings) Write(line []byte) (int, error) {
	_, err := fmt.Fprintf(w.to, "simulator: %s\n", printable.Whole(string(line)))
	return len(line), err
}

func stop(s *simulator.Simulator, out io.Writer) error {
	began := time.Now()
	err := s.Stop()
	fmt.Fprintf(out, "\nstopped in %.1fs\n", time.Since(began).Seconds())
	return err
}
