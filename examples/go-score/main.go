// Command cheapest is a guest: of the nodes where a pod can run, it prefers those
// with the lowest price, a label such as example.com/price=0.35.
package main

import (
	"strconv"

	"wasmkwokwizardry.io/regex-scheduling/guest"
	"wasmkwokwizardry.io/regex-scheduling/guest/decidesby"
	"wasmkwokwizardry.io/regex-scheduling/guest/score"
)

const label = "example.com/price"

// dearest is the price that scores 0, as is any that is higher or not known.
var dearest = 1.0

func init() {
	config := string(guest.Config()) // the plugin's guestConfig
	if config != "" {
		price, err := strconv.ParseFloat(config, 64)
		if err != nil || price <= 0 {
			panic("guestConfig: wants the price that scores 0, such as 2.5, not " + config)
		}
		dearest = price
	}
	score.Set(func(_ guest.Pod, node guest.Node) (int32, guest.Status) {
		price, _ := node.Label(label)
		return points(price), guest.Status{}
	})
	decidesby.Set(guest.NodeLabel(label))
}

func main() {}

// points are what a price is worth, from 0 to 100.
func points(price string) int32 {
	p, err := strconv.ParseFloat(price, 64)
	if err != nil || p < 0 || p > dearest {
		return 0
	}
	return int32(100 * (1 - p/dearest))
}
