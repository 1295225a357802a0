package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/cli"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/api"
	"wasmkwokwizardry.io/regex-scheduling/internal/simulator/page"
	"wasmkwokwizardry.io/regex-scheduling/internal/snapshot"
)

// servers are open from the first moment: a port that is taken is an error at once,
// and a browser sees the start.
type servers struct {
	page     *api.Server
	starting *page.Starting
	end      func() // of the process
}

func listen(o *options, end func()) (s *servers, err error) {
	s = &servers{starting: page.NewStarting(), end: end}
	s.page, err = api.Listen(o.listen, o.port, "--port", s.starting)
	return s, err
}

// serve runs a simulator and its servers until ctx is done, or a request ends it.
func serve(ctx context.Context, o *options, out, errOut io.Writer) (err error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if err := o.Check(); err != nil {
		return cli.Usage(err)
	}
	objects, err := o.readFiles(ctx)
	if err != nil {
		return err
	}
	if o.cluster.Kubeconfig != "" {
		objects, err = readCluster(ctx, o.cluster, newPrinter(errOut))
		if err != nil {
			return err
		}
		o.notices = objects.OneByOne()
	}
	o.PodGroups = o.PodGroups || objects != nil && len(objects.PodGroups) > 0
	servers, err := listen(o, end)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, servers.page.Stop()) }()
	o.Warnings = warnings{errOut}
	if servers.page.Public() {
		fmt.Fprintf(o.Warnings, "warning: --listen %s: there is no password: who reaches this address can do everything with the cluster, "+
			"and make this process fetch any URL and file as a guest\n", o.listen)
	}
	o.Importing = objects != nil
	s, err := start(ctx, o.Config, out, servers.starting.Say)
	if err != nil {
		return err
	}
	if err := open(ctx, o, s, servers, objects, out); err != nil {
		return errors.Join(err, stop(s, out))
	}
	announce(o, s, servers, out)
	select {
	case <-ctx.Done():
		return stop(s, out)
	case <-s.Done():
		return errors.Join(s.Err(), stop(s, out))
	}
}

// open replaces the steps of the start with the page and the API.
func open(ctx context.Context, o *options, s *simulator.Simulator, servers *servers, objects *snapshot.Snapshot, out io.Writer) error {
	if objects != nil {
		if err := o.importFirst(ctx, s, objects, progress(out, servers.starting), out); err != nil {
			return err
		}
	}
	if o.example {
		if err := s.Import(ctx, simulator.Example(), nil); err != nil {
			return err
		}
	}
	handler := api.Handler(s, servers.end)
	if o.headless {
		servers.page.Handle(handler)
		return nil
	}
	pages, err := page.New(ctx, s)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", handler)
	mux.Handle("/", pages)
	servers.page.Handle(mux)
	return nil
}

func progress(out io.Writer, starting *page.Starting) func(done, of int) {
	return func(done, of int) {
		if done*10/of == (done-1)*10/of {
			return
		}
		step := fmt.Sprintf("imported %d of %d objects", done, of)
		fmt.Fprintln(out, "       ", step)
		starting.Say(step)
	}
}

// readFiles reads the files of flags, before anything is started.
func (o *options) readFiles(ctx context.Context) (*snapshot.Snapshot, error) {
	if o.confFile != "" {
		config, err := os.ReadFile(o.confFile)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		o.SchedulerConfig = config
	}
	if o.from == "" {
		return nil, cli.Usage(o.cluster.Check())
	}
	if o.cluster.Kubeconfig != "" {
		return nil, cli.Usage(errors.New("--from and --kubeconfig: choose one of the two"))
	}
	return o.readFrom(ctx)
}

func (o *options) readFrom(ctx context.Context) (objects *snapshot.Snapshot, err error) {
	objects, o.notices, _, err = readSnapshot(ctx, o.stdin, o.from, o.maxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err // which names it
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, err)
	}
	if o.objectsOnly {
		objects.SchedulerConfig = nil
	}
	return objects, nil
}

// importFirst begins with a snapshot. It lists what cannot be imported, and goes on
// with the rest.
func (o *options) importFirst(ctx context.Context, s *simulator.Simulator, in *snapshot.Snapshot, progress func(done, of int), out io.Writer) error {
	err := s.ImportFirst(ctx, in, progress)
	rejected := snapshot.NotImported(nil)
	if err != nil && !errors.As(err, &rejected) {
		if o.from != "" {
			err = fmt.Errorf("%s: %w", o.from, err)
		}
		return err
	}
	fmt.Fprintf(out, "         this is %s\n", in.Source)
	list(out, "not imported", rejected)
	list(out, "note", o.notices)
	return nil
}

func announce(o *options, s *simulator.Simulator, servers *servers, out io.Writer) {
	url := servers.page.URL()
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
`, page, url, s.Host(), s.Kubeconfig(), s.WebServer(), first, s.Kubeconfig())
}

// start starts a simulator, and prints each step with the time it began at.
func start(ctx context.Context, cfg simulator.Config, out io.Writer, also func(string)) (*simulator.Simulator, error) {
	began := time.Now()
	say := func(step string) {
		fmt.Fprintf(out, "%5.1fs  %s\n", time.Since(began).Seconds(), step)
		also(step)
	}
	cfg.Progress = say
	s, err := simulator.Start(ctx, cfg)
	if err == nil {
		say("pods are being scheduled")
	}
	return s, withFlag(err, cfg)
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
	_, err := fmt.Fprintf(w.to, "simulator: %s", line)
	return len(line), err
}

func stop(s *simulator.Simulator, out io.Writer) error {
	began := time.Now()
	err := s.Stop()
	fmt.Fprintf(out, "\nstopped in %.1fs\n", time.Since(began).Seconds())
	return err
}
