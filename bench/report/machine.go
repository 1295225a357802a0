package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Machine is where a run was taken.
type Machine struct {
	CPU  string
	Text string // a sentence
}

// ThisMachine looks around. What it cannot find out it leaves out.
func ThisMachine() Machine {
	m := Machine{CPU: cpu()}
	load := ""
	if average, _, found := strings.Cut(read("/proc/loadavg"), " "); found {
		load = ", load average " + average + " at the start"
	}
	kernel := strings.TrimSpace(read("/proc/sys/kernel/osrelease"))
	m.Text = fmt.Sprintf("%s, %d cores; %s/%s %s; %s; %s%s.", m.CPU, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, kernel,
		runtime.Version(), time.Now().UTC().Format("2006-01-02"), load)
	return m
}

func cpu() string {
	for line := range strings.Lines(read("/proc/cpuinfo")) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func read(file string) string {
	data, _ := os.ReadFile(file)
	return string(data)
}
