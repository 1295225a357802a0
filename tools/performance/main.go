// Command performance makes tables of the output of the benchmarks in bench/, and
// docs/performance.md of the tables. `make bench` runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("performance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	doc := flags.String("doc", "", "Markdown page whose measured part to replace")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: performance [-doc page.md] run.txt")
		return 2
	}
	text, err := report(flags.Arg(0))
	if err == nil && *doc != "" {
		err = updatePage(*doc, text)
	}
	if err != nil {
		fmt.Fprintln(stderr, "performance:", err)
		return 1
	}
	fmt.Fprint(stdout, text)
	return 0
}

// report is the tables of a file, as Markdown that a terminal shows aligned.
func report(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	written, err := in.Stat()
	if err != nil {
		return "", err
	}
	r, err := read(in, file)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var noisy []string
	for _, t := range r.tables() {
		lines, left := r.cells(t)
		noisy = append(noisy, left...)
		if len(lines) < 2 {
			continue
		}
		fmt.Fprintf(&b, "## %s\n\n", t.title)
		w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
		for i, line := range lines {
			fmt.Fprintf(w, "| %s\t|\n", strings.Join(line, "\t| "))
			if i == 0 {
				fmt.Fprintf(w, "|---\t|%s\n", strings.Repeat("--:\t|", len(line)-1))
			}
		}
		w.Flush()
		fmt.Fprintf(&b, "\n%s\n\n", t.note)
	}
	if len(noisy) > 0 {
		fmt.Fprintf(&b, "Not shown, since a figure is noisier than ±15 %%; more rounds (-rounds, -whole-rounds) may help:\n- %s\n\n", strings.Join(noisy, "\n- "))
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(&b, "Measured on %s, %d processors; %s/%s %s; %s; %s.\n±: the median is in this range with a confidence of 95%%. Without ±: too few rounds to say.\n",
		r.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		strings.TrimSpace(string(kernel)), runtime.Version(), written.ModTime().UTC().Format(time.DateOnly))
	return b.String(), nil
}

// The measured part of a page stands between these lines.
const (
	beginMark = "<!-- measured: begin -->\n"
	endMark   = "<!-- measured: end -->\n"
)

// updatePage replaces the measured part of a page, and no other.
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
