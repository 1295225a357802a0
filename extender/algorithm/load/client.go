package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// maxAnswer is the largest answer, in bytes, that is read from Prometheus:
// some 100,000 nodes.
const maxAnswer = 32 << 20

// client asks one Prometheus one query, over connections that it keeps.
type client struct {
	http      *http.Client
	url       string
	promQL    string
	body      string
	tokenFile string
	label     string
	worse     func(a, b float64) bool
}

func newClient(config Config) (*client, error) {
	tlsConfig, err := config.TLS.load()
	if err != nil {
		return nil, err
	}
	return &client{
		http: &http.Client{
			Timeout:   config.Timeout.Duration,
			Transport: &http.Transport{TLSClientConfig: tlsConfig, MaxIdleConns: 1, IdleConnTimeout: 10 * time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return errors.New("redirects are not followed: set url to where it leads")
			},
		},
		url:       strings.TrimSuffix(config.URL, "/") + "/api/v1/query",
		promQL:    config.promQL(),
		body:      url.Values{"query": {config.promQL()}, "timeout": {config.Timeout.Duration.String()}}.Encode(),
		tokenFile: config.BearerTokenFile,
		label:     config.NodeLabel,
		worse:     config.worse,
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
func (c *client) query(ctx context.Context) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if c.tokenFile != "" {
		token, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("bearerTokenFile: %w", err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.url, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes: aggregate by node in the query", c.url, maxAnswer)
	}
	values, err := c.decode(body)
	if err != nil {
		return nil, fmt.Errorf("%s: status %d: %w", c.url, response.StatusCode, err)
	}
	return values, nil
}
