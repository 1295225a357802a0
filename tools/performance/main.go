// Command performance makes tables of what the benchmarks of bench/ printed, and
// docs/performance.md of the tables. `make bench` runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("performance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: performance [-doc page.md] run.txt")
		flags.PrintDefaults()
	}
	doc := flags.String("doc", "", "Markdown page whose measured part is written anew")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return 2
	}
	if err := report(flags.Arg(0), *doc, stdout); err != nil {
		fmt.Fprintln(stderr, "performance:", err)
		return 1
	}
	return 0
}

func report(file, doc string, stdout io.Writer) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := read(in, file)
	if err != nil {
		return err
	}
	written := time.Now()
	if info, err := in.Stat(); err == nil {
		written = info.ModTime()
	}
	text := r.markdown(written)
	fmt.Fprint(stdout, text)
	if doc == "" {
		return nil
	}
	return updatePage(doc, text)
}

// markdown is all of it.
func (r *results) markdown(measured time.Time) string {
	var b strings.Builder
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(&b, "Measured on %s, %d processors; %s/%s %s; %s; %s. ±: where the median lies with a confidence of 95%%, or of what the rounds\n"+
		"allow. –: not measured, or noisier than ±15 %%.\n", r.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		strings.TrimSpace(string(kernel)), runtime.Version(), measured.UTC().Format(time.DateOnly))
	return b.String()
}

// The measured part of a page stands between these lines.
const (
	beginMark = "<!-- measured: begin -->\n"
	endMark   = "<!-- measured: end -->\n"
)

// updatePage replaces the measured part of a page. It leaves the prose alone.
func updatePage(page, measured string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(old), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return fmt.Errorf("%s: no %q and %q around what is measured", page, beginMark, endMark)
	}
	return os.WriteFile(page, []byte(before+beginMark+"\n"+measured+"\n"+endMark+after), 0o644)
}
