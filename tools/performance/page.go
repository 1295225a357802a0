package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// The measured part of a page stands between these lines.
const (
	beginMark = "<!-- measured: begin -->\n"
	endMark   = "<!-- measured: end -->\n"
)

// updatePage replaces the measured part of a page. It leaves the prose alone.
func updatePage(page string, r *results, measured time.Time) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(old), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return fmt.Errorf("%s: no %q and %q around what is measured", page, beginMark, endMark)
	}
	text := before + beginMark + "\n" + r.markdown(measured) + "\n" + endMark + after
	return os.WriteFile(page, []byte(text), 0o644)
}

// markdown is all of it.
func (r *results) markdown(measured time.Time) string {
	var b strings.Builder
	for _, t := range r.tables() {
		fmt.Fprintf(&b, "%s\n", t.markdown())
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(&b, "Measured on %s, %d processors; %s/%s %s; %s; %s. ±: where the median lies with a confidence of 95%%, or of what the rounds\n"+
		"allow. –: not measured, or noisier than ±15 %%.\n", r.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		strings.TrimSpace(string(kernel)), runtime.Version(), measured.UTC().Format(time.DateOnly))
	return b.String()
}
