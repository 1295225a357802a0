// Command performance makes tables of what the benchmarks of bench/ printed, and
// docs/performance.md of the tables. `make bench` runs it.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
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
	fmt.Fprint(stdout, r.markdown(written))
	if doc == "" {
		return nil
	}
	return updatePage(doc, r, written)
}
