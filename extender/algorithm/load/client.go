package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// maxAnswer is the largest answer of Prometheus, in bytes: some 30,000 nodes. Decoding it
// takes about ten times as much memory.
const maxAnswer = 8 << 20

// newClient makes a client that reuses its connection to Prometheus.
func (c Config) newClient() (*http.Client, error) {
	tlsConfig, err := c.TLS.load()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: tlsConfig, MaxIdleConns: 1, IdleConnTimeout: 10 * time.Minute}
	return &http.Client{
		Timeout:   c.Timeout.Duration,
		Transport: &authorized{Transport: transport, tokenFile: c.BearerTokenFile},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("redirects are not followed: set url to their target")
		},
	}, nil
}

// authorized adds a token to requests, and bounds the answers.
type authorized struct {
	*http.Transport
	tokenFile string // may be empty
}

// RoundTrip implements http.RoundTripper. It reads the token for each request.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.tokenFile != "" {
		token, err := os.ReadFile(a.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("bearerTokenFile: %w", err)
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := a.Transport.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxAnswer)
	}
	return response, err
}

// load reads the authority now, and the certificate for each new connection, so that it
// can be renewed.
func (t TLS) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
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
			pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
			return &pair, err
		}
	}
	return config, nil
}

// query returns a value for each node, at least one. If a node has several series, the
// worst value counts; NaN is no value.
func (c Config) query(ctx context.Context, client *http.Client) (map[string]float64, error) {
	prometheus, err := api.NewClient(api.Config{Address: c.URL, Client: client})
	if err != nil {
		return nil, err
	}
	answer, _, err := promv1.NewAPI(prometheus).Query(ctx, c.promQL(), time.Time{}, promv1.WithTimeout(c.Timeout.Duration))
	var refused *promv1.Error
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes: aggregate by node in the query", c.URL, maxAnswer)
	case errors.As(err, &refused) && refused.Detail != "": // the body, of another status than 400 and 422
		return nil, fmt.Errorf("%s: %w: %.300s", c.URL, err, refused.Detail)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.URL, err)
	}
	samples, ok := answer.(model.Vector)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s: the query returns a %s, want a vector: one value per node", c.URL, answer.Type())
	case len(samples) == 0:
		return nil, fmt.Errorf("%s: query %s: %w", c.URL, c.promQL(), errEmpty)
	}
	values := make(map[string]float64)
	for _, sample := range samples {
		name, value := string(sample.Metric[model.LabelName(c.NodeLabel)]), float64(sample.Value)
		if host, _, err := net.SplitHostPort(name); err == nil { // as in instance; node names have no colon
			name = host
		}
		if name == "" || sample.Histogram != nil || math.IsNaN(value) {
			continue
		}
		if old, ok := values[name]; !ok || c.worse(value, old) {
			values[name] = value
		}
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: none of %d series has a value and the label %q: set nodeLabel, or keep it in the query", c.URL, len(samples), c.NodeLabel)
	}
	return values, nil
}

// errEmpty is an answer without a series: in most cases a mistake in the query, or a
// Prometheus that has just started.
var errEmpty = errors.New("no series in the answer: check that Prometheus scrapes the metric in the query, and wait if Prometheus has just started")
