package drain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
	"wasmkwokwizardry.io/regex-scheduling/internal/report"
	"wasmkwokwizardry.io/regex-scheduling/internal/yamlcheck"
)

// Prices are what nodes cost, by the value of one of their labels.
type Prices struct {
	Label    string             `json:"label,omitempty"`    // by default that of the instance type
	Currency string             `json:"currency,omitempty"` // is written behind amounts
	PerHour  map[string]float64 `json:"perHour"`            // by the label's value
}

// ReadPrices reads a file with prices. Errors begin with --prices and the path.
func ReadPrices(path string) (*Prices, error) {
	text, err := readfile.All(path)
	if err != nil {
		return nil, fmt.Errorf("--prices: %w", err)
	}
	p, err := ParsePrices(text)
	if err != nil {
		return nil, fmt.Errorf("--prices %s: %w", path, err)
	}
	return p, nil
}

// ParsePrices reads the text of such a file.
func ParsePrices(text []byte) (*Prices, error) {
	p := &Prices{}
	parsed := yamlcheck.Parse(text)
	problems := append(parsed.Keys(), parsed.Check(p)...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("line %d: %w", problems[0].Line, problems[:1])
	}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, err
	}
	if len(p.PerHour) == 0 {
		return nil, errors.New(`no prices: write "perHour:", and under it lines such as "m5.large: 0.096"`)
	}
	for _, value := range slices.Sorted(maps.Keys(p.PerHour)) {
		if p.PerHour[value] < 0 {
			return nil, fmt.Errorf("perHour[%s]: %v is negative: a price is 0 or more", value, p.PerHour[value])
		}
	}
	p.Label = cmp.Or(p.Label, v1.LabelInstanceTypeStable)
	return p, nil
}

// Check fails if no node has a price, since the prices are then those of another cluster.
func (p *Prices) Check(nodes []v1.Node) error {
	if slices.ContainsFunc(nodes, func(node v1.Node) bool { _, known := p.of(&node); return known }) {
		return nil
	}
	return fmt.Errorf("--prices: no node has a price: there are some for %s, and none of these is a node's label %s",
		report.Few(slices.Sorted(maps.Keys(p.PerHour))), p.Label)
}

// of is what a node costs an hour, if its price is known.
func (p *Prices) of(node *v1.Node) (perHour float64, known bool) {
	perHour, known = p.PerHour[node.Labels[p.Label]]
	return perHour, known
}

// addPrices adds up what the nodes that go cost an hour, and names nodes without a price.
func (r *Result) addPrices(nodes []v1.Node, prices *Prices) {
	r.Priced = true
	r.Currency = prices.Currency
	for i := range nodes {
		node := &nodes[i]
		if !slices.Contains(r.Go, node.Name) {
			continue
		}
		price, known := prices.of(node)
		if !known {
			r.Unpriced = append(r.Unpriced, node.Name)
		}
		r.Saves += price
	}
	r.Saves = math.Round(100*r.Saves) / 100
}
