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
	"os"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is the largest answer, in bytes, that is read from Prometheus:
// some 100,000 nodes.
const maxAnswer = 32 << 20

// newClient makes a client that keeps its connection to Prometheus.
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

// load reads the authority now and the certificate whenever a connection is
// made, so that a renewed one is used.
func (t TLS) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.caFile: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.caFile: %s: there is no PEM certificate in it", t.CAFile)
		}
	}
	if t.CertFile != "" {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			return &pair, err
		}
	}
	return config, nil
}

// query returns a value per node.
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
		token, err := os.ReadFile(c.BearerTokenFile)
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
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
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

// errEmpty is an answer without a series. It is more often the mark of a mistake,
// or of a Prometheus that has just started, than the truth about a cluster.
var errEmpty = errors.New("no series in the answer: see that the metric is spelled and scraped as in the query, and wait if Prometheus has only just started")

// decode returns a value per node, at least one, of an answer to an instant query.
// Of several series for a node the worst counts; NaN is no value.
func (c *Config) decode(body []byte) (map[string]float64, error) {
	var answer struct {
		Status, ErrorType, Error string
		Data                     struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  [2]any // time, and the value as text
			}
		}
	}
	err := json.Unmarshal(body, &answer)
	samples, other := answer.Data.Result, (*json.UnmarshalTypeError)(nil)
	switch {
	case err != nil && !errors.As(err, &other):
		return nil, fmt.Errorf("not an answer of Prometheus: %w", err)
	case answer.Status != "success":
		return nil, fmt.Errorf("query refused: %s: %s", answer.ErrorType, answer.Error)
	case answer.Data.ResultType != "vector":
		return nil, fmt.Errorf("the query returns a %s, want a vector: one value per node", answer.Data.ResultType)
	case err != nil:
		return nil, fmt.Errorf("not a vector of Prometheus: %w", err)
	case len(samples) == 0:
		return nil, fmt.Errorf("query %s: %w", c.promQL(), errEmpty)
	}
	values := make(map[string]float64, len(samples))
	for _, s := range samples {
		text, _ := s.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("not a value of Prometheus: %w", err)
		}
		name := s.Metric[c.NodeLabel]
		if host, _, err := net.SplitHostPort(name); err == nil { // as instance has it; names of nodes have no colon
			name = host
		}
		if name == "" || math.IsNaN(value) {
			continue
		}
		if old, ok := values[name]; !ok || c.worse(value, old) {
			values[name] = value
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", len(samples), c.NodeLabel)
	}
	return values, nil
}
