package drain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"wasmkwokwizardry.io/regex-scheduling/internal/whatif/words"
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
	text, err := os.ReadFile(path)
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
	return p, p.read(text)
}

func (p *Prices) read(text []byte) error {
	parsed := yamlcheck.Parse(text)
	if problems := append(parsed.Keys(), parsed.Check(&Prices{})...); len(problems) > 0 {
		return fmt.Errorf("line %d: %w", problems[0].Line, problems[:1])
	}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return err
	}
	if len(p.PerHour) == 0 {
		return errors.New(`no prices: write "perHour:", and under it lines such as "m5.large: 0.096"`)
	}
	for _, value := range slices.Sorted(maps.Keys(p.PerHour)) {
		if price := p.PerHour[value]; price < 0 {
			return fmt.Errorf("perHour[%s]: %v is negative: a price is 0 or more", value, price)
		}
	}
	p.Label = cmp.Or(p.Label, v1.LabelInstanceTypeStable)
	return nil
}

// Check fails if no node has a price, since the prices are then those of another cluster.
func (p *Prices) Check(nodes []v1.Node) error {
	if slices.ContainsFunc(nodes, func(node v1.Node) bool { _, known := p.of(&node); return known }) {
		return nil
	}
	return fmt.Errorf("--prices: no node has a price: there are some for %s, and none of these is a node's label %s",
		words.Few(slices.Sorted(maps.Keys(p.PerHour))), p.Label)
}

// of is what a node costs an hour, if its price is known.
func (p *Prices) of(node *v1.Node) (perHour float64, known bool) {
	perHour, known = p.PerHour[node.Labels[p.Label]]
	return perHour, known
}
