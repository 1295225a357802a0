package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/readfile"
)

// maxAnswer is the largest answer, in bytes, that is read from Prometheus: some 30,000 nodes.
// What is made of it takes ten times as much.
const maxAnswer = 8 << 20

// newClient makes a client that reuses its connection to Prometheus.
func (c Config) newClient() (*http.Client, error) {
	tlsConfig, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout:   c.Timeout.Duration,
		Transport: &http.Transport{TLSClientConfig: tlsConfig, MaxIdleConns: 1, IdleConnTimeout: 10 * time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("redirects are not followed: set url to where it leads")
		},
	}, nil
}

// load reads the authority now, and the certificate for each new connection, so that it
// can be renewed.
func (t TLS) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	if t.CAFile != "" {
		pem, err := readfile.All(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.caFile: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.caFile: %s: it has no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := readfile.KeyPair(t.CertFile, t.KeyFile)
			return &pair, err
		}
	}
	return config, nil
}

// query returns a value for each node.
func (c Config) query(ctx context.Context, client *http.Client) (map[string]float64, error) {
	form := url.Values{"query": {c.promQL()}, "timeout": {c.Timeout.Duration.String()}}
	address := strings.TrimSuffix(c.URL, "/") + "/api/v1/query"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if c.BearerTokenFile != "" {
		token, err := readfile.All(c.BearerTokenFile)
		if err != nil {
			return nil, fmt.Errorf("bearerTokenFile: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1)) // to its end, or the connection is not reused
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes: aggregate by node in the query", address, maxAnswer)
	}
	values, err := c.decode(body)
	if err != nil {
		return nil, fmt.Errorf("%s: status %d: %w", address, response.StatusCode, err)
	}
	return values, nil
}

// answer is Prometheus' answer to an instant query.
type answer struct {
	Status    string `json:"status"`
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string          `json:"resultType"`
		Result     json.RawMessage `json:"result"` // of a vector: samples
	} `json:"data"`
}

// sample is one sample of an instant vector.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // the time as a number, the value as a string
}

// decode returns a value for each node, at least one, of an answer to an instant query.
// If a node has several series, the worst value counts; NaN is no value.
func (c *Config) decode(body []byte) (map[string]float64, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	}
	if a.Status != "success" {
		return nil, fmt.Errorf("query rejected: %s: %s", a.ErrorType, a.Error)
	}
	if a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", a.Data.ResultType)
	}
	var samples []sample
	if err := json.Unmarshal(a.Data.Result, &samples); err != nil {
		return nil, fmt.Errorf("not a vector of Prometheus: %w", err)
	}
	values := make(map[string]float64)
	for _, one := range samples {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		name := one.Metric[c.NodeLabel]
		host, _, noPort := net.SplitHostPort(name)
		if noPort == nil { // as in instance; node names have no colon
			name = host
		}
		if err != nil || name == "" || math.IsNaN(value) {
			continue
		}
		old, ok := values[name]
		if !ok || c.worse(value, old) {
			values[name] = value
		}
	}
	switch {
	case len(samples) == 0:
		return nil, fmt.Errorf("query %s: no series in the answer: check that Prometheus scrapes the metric in the query, and wait if Prometheus has just started", c.promQL())
	case len(values) == 0:
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", len(samples), c.NodeLabel)
	}
	return values, nil
}
