//go:build !wasip1

package host

// Scheduler is what a hook receives and reports in a guest that is compiled for the
// machine that its tests run on.
type Scheduler struct {
	Config, NodeName  string
	Pod, Target       []byte
	Nodes             map[string][]byte
	Passed            string // JSON, as the host writes it
	Statuses, Scores  string // likewise
	Reason            string
	ClusterEvents     []byte
	NodeNames         string
	NominatedNodeName string
	Normalized        string
	Logged            []string
	Waiting           map[string]bool // pods by UID; an allowed one is true
}

// Now is the scheduler of the call.
var Now Scheduler

// Hooks are the exports of the packages that are imported, by their names.
var Hooks = map[string]func() uint64{}

// Register makes an export known to tests.
func Register(name string, hook func() uint64) { Hooks[name] = hook }

func GetConfig(ptr, limit uint32) uint32        { return write([]byte(Now.Config), ptr, limit) }
func CurrentPod(ptr, limit uint32) uint32       { return write(Now.Pod, ptr, limit) }
func TargetPod(ptr, limit uint32) uint32        { return write(Now.Target, ptr, limit) }
func CurrentNodeName(ptr, limit uint32) uint32  { return write([]byte(Now.NodeName), ptr, limit) }
func FilteredNodeList(ptr, limit uint32) uint32 { return write([]byte(Now.Passed), ptr, limit) }
func NodeToStatusMap(ptr, limit uint32) uint32  { return write([]byte(Now.Statuses), ptr, limit) }
func NodeScoreList(ptr, limit uint32) uint32    { return write([]byte(Now.Scores), ptr, limit) }

func Node(name, nameSize, ptr, limit uint32) uint32 {
	return write(Now.Nodes[read(name, nameSize)], ptr, limit)
}

func SetStatusReason(ptr, size uint32)        { Now.Reason = read(ptr, size) }
func SetClusterEvents(ptr, size uint32)       { Now.ClusterEvents = []byte(read(ptr, size)) }
func SetNodeNames(ptr, size uint32)           { Now.NodeNames = read(ptr, size) }
func SetNominatedNodeName(ptr, size uint32)   { Now.NominatedNodeName = read(ptr, size) }
func SetNormalizedScoreList(ptr, size uint32) { Now.Normalized = read(ptr, size) }
func Log(_, ptr, size uint32)                 { Now.Logged = append(Now.Logged, read(ptr, size)) }

func RejectWaitingPod(uid, size, ptr, _ uint32) {
	endWait(uid, size, ptr, func(uid string) { delete(Now.Waiting, uid) })
}

func AllowWaitingPod(uid, size, ptr, _ uint32) {
	endWait(uid, size, ptr, func(uid string) { Now.Waiting[uid] = true })
}

func endWait(uid, size, ptr uint32, end func(uid string)) {
	name := read(uid, size)
	_, waits := Now.Waiting[name]
	if waits {
		end(name)
		Memory(ptr, 8)[0] = 1
	}
}

// passed are the buffers that the addresses refer to. Real addresses do not fit into the
// 32 bits of Wasm.
var passed [][]byte

func Address(b []byte) uint32 {
	passed = append(passed, b)
	return uint32(len(passed) - 1)
}

// Memory is the guest's at an address that it gave.
func Memory(ptr, size uint32) []byte { return passed[ptr][:size] }

func read(ptr, size uint32) string { return string(Memory(ptr, size)) }

func write(data []byte, ptr, limit uint32) uint32 {
	if len(data) <= int(limit) {
		copy(passed[ptr], data)
	}
	return uint32(len(data))
}
