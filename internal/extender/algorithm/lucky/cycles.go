package lucky

import (
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/extender/algorithm"
)

// maxCycles is how many pods are remembered at once. The scheduler works at one
// pod at a time; when there are more, those whose cycle is over are forgotten.
const maxCycles = 4096

// cycles knows which pods are in the middle of a scheduling cycle.
type cycles struct {
	seed uint64
	gap  time.Duration // 0: every request is a cycle of its own
	now  func() time.Time

	mu    sync.Mutex
	count uint64 // cycles begun
	pods  map[string]cycle
}

type cycle struct {
	number uint64
	last   time.Time // a request for the pod came
}

// A dice rolls for the nodes of one request.
type dice struct {
	random *rand.Rand // one roll after the other, or
	stable string     // one roll per name, always the same
	seed   uint64
}

func (c *cycles) dice(pod *algorithm.Pod, verb string) *dice {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gap == 0 {
		c.count++
		return &dice{random: rand.New(rand.NewPCG(c.seed, c.count))}
	}
	key := pod.UID
	if key == "" {
		key = pod.String()
	}
	now := c.now()
	entry, ok := c.pods[key]
	if !ok || now.Sub(entry.last) >= c.gap {
		c.forget(now)
		c.count++
		entry.number = c.count
	}
	entry.last = now
	c.pods[key] = entry
	return &dice{stable: verb + "\x00" + key + "\x00", seed: c.seed + entry.number<<32}
}

// forget makes room when there are too many pods.
func (c *cycles) forget(now time.Time) {
	if c.pods == nil {
		c.pods = make(map[string]cycle)
	}
	if len(c.pods) < maxCycles {
		return
	}
	for key, entry := range c.pods {
		if now.Sub(entry.last) >= c.gap {
			delete(c.pods, key)
		}
	}
	if len(c.pods) >= maxCycles {
		clear(c.pods)
	}
}

// fraction rolls for a node: at least 0, less than 1.
func (d *dice) fraction(name string) float64 {
	if d.random != nil {
		return d.random.Float64()
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, d.stable)
	_, _ = io.WriteString(h, name)
	return float64(mix(h.Sum64()^mix(d.seed))>>11) / (1 << 53)
}

// mix spreads the bits of a number, as SplitMix64 does: FNV gives names that
// differ in the last letter numbers that are close.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
