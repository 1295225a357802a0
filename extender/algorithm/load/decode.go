package load

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answer is Prometheus' answer to an instant query.
type answer struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string  `json:"resultType"`
		Result     samples `json:"result"`
	} `json:"data"`
}

// sample is one sample of an instant vector.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // the time as a number, the value as a string
}

// samples reads a vector sample by sample: as a whole, an answer of 30 MB takes ten times
// as much memory.
type samples struct {
	config   *Config
	isVector bool
	all, bad int
	firstBad error
	values   map[string]float64 // by node
}

// decode returns a value for each node, at least one, of an answer to an instant query.
// If a node has several series, the worst value counts; NaN is no value. A sample that
// cannot be read is skipped.
func (c *Config) decode(body io.Reader) (map[string]float64, error) {
	var a answer
	result := &a.Data.Result
	result.config, result.values = c, make(map[string]float64)
	err := json.UnmarshalRead(body, &a, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch {
	case err != nil:
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	case a.Status != "success":
		return nil, fmt.Errorf("query rejected: %s: %s", a.ErrorType, a.Error)
	case a.Data.ResultType != "vector":
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", a.Data.ResultType)
	case !result.isVector:
		return nil, errors.New("not a vector of Prometheus: its result is not a list")
	case result.all == 0:
		return nil, fmt.Errorf("query %s: %w", c.promQL(), errEmpty)
	case result.all == result.bad:
		return nil, fmt.Errorf("not a value of Prometheus: %w", result.firstBad)
	case len(result.values) == 0:
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", result.all, c.NodeLabel)
	}
	return result.values, nil
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *samples) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if in.PeekKind() != '[' {
		return in.SkipValue()
	}
	s.isVector = true
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for in.PeekKind() != ']' {
		text, err := in.ReadValue()
		if err != nil {
			return err
		}
		s.all++
		if err := s.add(text); err != nil {
			s.bad++
			s.firstBad = cmp.Or(s.firstBad, err)
		}
	}
	_, err := in.ReadToken()
	return err
}

// add takes one sample.
func (s *samples) add(text jsontext.Value) error {
	var one sample
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	value, ok := one.Value[1].(string)
	if !ok {
		return fmt.Errorf("%v is not a string", one.Value[1])
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return err
	}
	name := one.Metric[s.config.NodeLabel]
	host, _, err := net.SplitHostPort(name)
	if err == nil { // as in instance; node names have no colon
		name = host
	}
	if name == "" || math.IsNaN(number) {
		return nil
	}
	old, ok := s.values[name]
	if !ok || s.config.worse(number, old) {
		s.values[name] = number
	}
	return nil
}
