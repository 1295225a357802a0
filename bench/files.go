package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/bench/report"
)

// write leaves the run in files.
func (o options) write(r *report.Run) error {
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	var raw bytes.Buffer
	r.Raw(&raw)
	if err := os.WriteFile(filepath.Join(o.out, "raw.txt"), raw.Bytes(), 0o644); err != nil {
		return err
	}
	if err := writeCharts(o.out, r); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "report.md"), []byte("# Benchmark\n\n"+measured(r, ".")), 0o644); err != nil {
		return err
	}
	if o.doc == "" {
		return nil
	}
	return updatePage(o.doc, r)
}

func writeCharts(folder string, r *report.Run) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, chart := range r.Charts() {
		if err := os.WriteFile(filepath.Join(folder, chart.File), []byte(chart.SVG), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// measured is the run in Markdown, the plots from a folder.
func measured(r *report.Run, folder string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `%s` on %s\n", r.Command, r.Machine.Text)
	tables := r.Tables()
	fmt.Fprintf(&b, "\n%s", tables[0].Markdown())
	for _, chart := range r.Charts() {
		fmt.Fprintf(&b, "\n![%s](%s/%s)\n", chart.About, folder, chart.File)
	}
	for _, t := range tables[1:] {
		fmt.Fprintf(&b, "\n%s", t.Markdown())
	}
	return b.String()
}

// The measured part of a page stands between these lines.
const (
	beginMark = "<!-- measured: begin -->\n"
	endMark   = "<!-- measured: end -->\n"
)

// updatePage replaces the measured part of a page, and leaves its prose alone.
func updatePage(page string, r *report.Run) error {
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
	if err := writeCharts(folder, r); err != nil {
		return err
	}
	text := before + beginMark + "\n" + measured(r, filepath.Base(folder)) + "\n" + endMark + after
	return os.WriteFile(page, []byte(text), 0o644)
}
