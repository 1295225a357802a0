package simulator

import (
	"embed"
	"fmt"
	"slices"
)

// Doors are the ways into the scheduler that the simulator can be started with.
var Doors = []string{"v1", "v2", "native"}

// configs holds a KubeSchedulerConfiguration for each door.
//
//go:embed doors/*.yaml
var configs embed.FS

// SchedulerConfig returns the KubeSchedulerConfiguration that puts a door in
// use.
func SchedulerConfig(door string) ([]byte, error) {
	if !slices.Contains(Doors, door) {
		return nil, fmt.Errorf("no door %q: choose one of %v", door, Doors)
	}
	return configs.ReadFile("doors/" + door + ".yaml")
}
