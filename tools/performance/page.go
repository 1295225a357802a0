package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// The measured part of a page stands between these lines.
const (
	beginMark = "<!-- measured: begin -->\n"
	endMark   = "<!-- measured: end -->\n"
)

// updatePage replaces the measured part of a page, and the pictures in a folder of
// its name. It leaves the page's prose alone.
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
	folder := strings.TrimSuffix(page, filepath.Ext(page))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	pictures, err := r.charts(folder)
	if err != nil {
		return err
	}
	text := before + beginMark + "\n" + r.markdown(measured, pictures) + "\n" + endMark + after
	return os.WriteFile(page, []byte(text), 0o644)
}

// markdown is all of it, the pictures after the table that they show.
func (r *results) markdown(measured time.Time, pictures []picture) string {
	var b strings.Builder
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	machine := fmt.Sprintf("%s, %d processors; %s/%s %s; %s; %s", r.cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		strings.TrimSpace(string(kernel)), runtime.Version(), measured.UTC().Format(time.DateOnly))
	for i, t := range r.tables() {
		fmt.Fprintf(&b, "%s\n", t.markdown())
		if i > 0 {
			continue
		}
		fmt.Fprintf(&b, "Measured on %s.\n\n", machine)
		for _, p := range pictures {
			fmt.Fprintf(&b, "![%s](%s)\n\n", p.about, p.file)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
