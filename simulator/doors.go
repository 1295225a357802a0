package simulator

import (
	"embed"
	"fmt"
)

// Configuration is a KubeSchedulerConfiguration to pick from.
type Configuration struct {
	// Door is its short name: what --door takes.
	Door string
	// Title is what it does, in a few words.
	Title string
}

// Doors are the ways into the scheduler that the simulator can be started with.
var Doors = []string{"v1", "v2", "native", "extender", "extender-names", "default"}

// Configurations are the ready-made configurations, one for each of Doors.
var Configurations = []Configuration{
	{"v1", "Wasm guest v1"},
	{"v2", "Wasm guest v2"},
	{"native", "native plugin"},
	{"extender", "HTTP extender, full nodes"},
	{"extender-names", "HTTP extender, names (nodeCacheCapable)"},
	{"default", "default scheduler, no plugin of ours"},
}

// configs holds a KubeSchedulerConfiguration for each door.
//
//go:embed doors/*.yaml
var configs embed.FS

// YAML is the configuration itself.
func (c Configuration) YAML() []byte {
	config, err := SchedulerConfig(c.Door)
	if err != nil {
		panic(err) // it is embedded
	}
	return config
}

// SchedulerConfig returns the KubeSchedulerConfiguration that puts a door in use.
func SchedulerConfig(door string) ([]byte, error) {
	file := door
	if door == "extender-v2" {
		file = "extender-names" // which was called so before
	}
	config, err := configs.ReadFile("doors/" + file + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no door %q: choose one of %v", door, Doors)
	}
	return config, nil
}
