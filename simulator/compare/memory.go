package compare

import (
	"os"
	"strconv"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/simulator/snapshot"
)

// What a side takes, roughly and at the most: see docs/compare.md for what was
// measured.
const (
	memoryOfASide    = 500 << 20
	memoryOfAnObject = 200 << 10
)

// RoomForTwo is true unless the machine, or the group of processes that this one
// is confined to, says that it has too little memory for both sides at once.
func RoomForTwo(cluster *snapshot.Snapshot) bool {
	objects := len(cluster.Nodes) + len(cluster.Pods)
	needed := int64(2 * (memoryOfASide + objects*memoryOfAnObject))
	for _, free := range []func() (int64, bool){freeOnMachine, freeInGroup} {
		if bytes, known := free(); known && bytes < needed {
			return false
		}
	}
	return true
}

func freeOnMachine() (int64, bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemAvailable:" {
			kibibytes, err := strconv.ParseInt(fields[1], 10, 64)
			return kibibytes << 10, err == nil
		}
	}
	return 0, false
}

func freeInGroup() (int64, bool) {
	limit, limited := readNumber("/sys/fs/cgroup/memory.max")
	used, known := readNumber("/sys/fs/cgroup/memory.current")
	return limit - used, limited && known
}

func readNumber(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	number, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return number, err == nil // "max" is no limit
}
