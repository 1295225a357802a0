package load

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sample is one of an instant vector.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // time, and the value as text
}

// answer is what Prometheus says to an instant query. Samples are taken one by one: as a
// whole, an answer of 30 MB takes ten times as much.
type answer struct {
	config                               *Config
	status, errorType, error, resultType string
	isVector                             bool // so far: a list
	samples, odd                         int
	why                                  error // of the first odd one
	values                               map[string]float64
}

// decode returns a value per node, at least one, of an answer to an instant query.
// Of several series for a node the worst counts; NaN is no value. A sample that cannot be
// read counts as none.
func (c *Config) decode(body io.Reader) (map[string]float64, error) {
	a := answer{config: c, values: map[string]float64{}}
	in := jsontext.NewDecoder(body, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := members(in, func(name string) error {
		switch name {
		case "status":
			return text(in, &a.status)
		case "errorType":
			return text(in, &a.errorType)
		case "error":
			return text(in, &a.error)
		case "data":
			return members(in, a.readData(in))
		}
		return in.SkipValue()
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	case a.status != "success":
		return nil, fmt.Errorf("query refused: %s: %s", a.errorType, a.error)
	case a.resultType != "vector":
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", a.resultType)
	case !a.isVector:
		return nil, errors.New("not a vector of Prometheus: its result is no list")
	case a.samples == 0:
		return nil, fmt.Errorf("query %s: %w", c.promQL(), errEmpty)
	case len(a.values) == 0 && a.odd == a.samples:
		return nil, fmt.Errorf("not a value of Prometheus: %w", a.why)
	case len(a.values) == 0:
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", a.samples, c.NodeLabel)
	}
	return a.values, nil
}

func (a *answer) readData(in *jsontext.Decoder) func(name string) error {
	return func(name string) error {
		switch {
		case name == "resultType":
			return text(in, &a.resultType)
		case name != "result" || in.PeekKind() != '[':
			return in.SkipValue()
		}
		a.isVector = true
		if _, err := in.ReadToken(); err != nil {
			return err
		}
		for in.PeekKind() != ']' {
			if err := a.readSample(in); err != nil {
				return err
			}
		}
		_, err := in.ReadToken()
		return err
	}
}

func (a *answer) readSample(in *jsontext.Decoder) error {
	raw, err := in.ReadValue()
	if err != nil {
		return err
	}
	a.samples++
	var s sample
	err = json.Unmarshal(raw, &s)
	value, isText := s.Value[1].(string)
	if err == nil && !isText {
		err = fmt.Errorf("%v is no text", s.Value[1])
	}
	number := math.NaN()
	if err == nil {
		number, err = strconv.ParseFloat(value, 64)
	}
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		a.odd++
		if a.why == nil {
			a.why = err
		}
		return nil
	}
	name := s.Metric[a.config.NodeLabel]
	if host, _, err := net.SplitHostPort(name); err == nil { // as instance has it; names of nodes have no colon
		name = host
	}
	if name == "" || math.IsNaN(number) {
		return nil
	}
	if old, ok := a.values[name]; !ok || a.config.worse(number, old) {
		a.values[name] = number
	}
	return nil
}

// members calls read at the value of each member of an object.
func members(in *jsontext.Decoder, read func(name string) error) error {
	if kind := in.PeekKind(); kind != '{' {
		if _, err := in.ReadToken(); err != nil {
			return err
		}
		return fmt.Errorf("a JSON %s, and no object", kind)
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for in.PeekKind() != '}' {
		token, err := in.ReadToken()
		if err != nil {
			return err
		}
		if err := read(token.String()); err != nil {
			return err
		}
	}
	_, err := in.ReadToken()
	return err
}

// text reads a string. What is none is empty.
func text(in *jsontext.Decoder, into *string) error {
	if in.PeekKind() != '"' {
		return in.SkipValue()
	}
	token, err := in.ReadToken()
	if err == nil {
		*into = token.String()
	}
	return err
}
