package regextest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Corpus are honest patterns, such as people write for the names that clouds and
// people give to nodes. All must be accepted, with as much room again.
func Corpus() []string {
	pool, random := make([]string, 100), make([]string, 100)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range pool {
		pool[i] = fmt.Sprintf("node-pool-%d-%04x", i%7, i*7919)
		random[i] = word(dice, "abcdefghijklmnopqrstuvwxyz0123456789-", 8+dice.IntN(5))
	}
	either := func(names []string) string { return strings.Join(names, "|") }
	return []string{
		``, `.*`, `kubecon-.*`, `^kubecon-`, `^kubecon-[0-9]+$`, `-1$`, `-9$`, `^(kubecon-1|kubecon-2)$`, `kubecon-|vmss|edge-`, `pool-3`,
		`node-[0-9]{3}`, `(?i)KUBECON`, `\bgpu\b`, `(^|-)gpu(-|$)`, `^node-\d*[02468]$`, `^(us|eu)-(east|west)-[1-3][a-f]?-`,
		`^gke-.*-pool-[0-9]+-[a-z0-9]{8}-[a-z0-9]{4}$`, `^gke-[a-z0-9-]+$`, `^gk3-.+-nap-[a-z0-9]{8}-`,
		`^aks-[a-z0-9]{1,12}-[0-9]{8}-vmss[0-9a-z]{6}$`, `^aks(win|npwin)?[0-9a-z]{1,6}`,
		`^ip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}\.ec2\.internal$`, `^i-[0-9a-f]{8,17}\..+\.compute\.internal$`,
		`^ip-10-(\d{1,3}-){3}\d{1,3}\.(us|eu)-(east|west)-[0-9]\.compute\.internal$`, `\.internal$`,
		`.*\.(us|eu)-(east|west)-[0-9]\.compute\.internal$`, `^fargate-ip-(\d+-){3}\d+`, `^(oke|doks|lke)-.{5,40}-[0-9a-z]{5}$`,
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, `([0-9a-f]{4,12}-){2,4}gpu`, `[a-z0-9]{5,20}-gpu`,
		`-.{1,20}-gpu`, `.{3,10}-[0-9]+.{2}$`, `kubecon.{0,8}east.{0,8}prod`, `a.{8}$`, `[^-]{5}-[^-]{4}$`, `^rack[0-9]{1,2}-(?:slot|unit)[0-9]{1,3}[ab]?$`,
		`^[a-z0-9-]{0,63}$`, `^.{1,253}$`, `[a-z]{1,63}`, `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){1,3}$`,
		HundredNames(), "(?i)^(" + HundredNames() + ")$",
		either(pool), "^(" + either(pool) + ")$", "(?i)^(" + either(pool) + ")$",
		either(random), "^(" + either(random) + ")$", "(?i)(" + either(random) + ")",
	}
}
