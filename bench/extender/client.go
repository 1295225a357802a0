package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// client sends one request again and again, over connections that it keeps.
type client struct {
	http   *http.Client
	args   extenderv1.ExtenderArgs
	body   []byte // the same, encoded
	buffer []byte
	// repeat is how many requests one measurement takes, so that short ones
	// are not lost in the clock's noise.
	repeat int
}

func newClient(body []byte) (*client, error) {
	c := &client{
		http:   &http.Client{Transport: &http.Transport{DisableCompression: true, WriteBufferSize: 256 << 10, ReadBufferSize: 256 << 10}},
		body:   body,
		buffer: make([]byte, 1<<20),
		repeat: max(1, (2<<20)/len(body)),
	}
	return c, json.Unmarshal(body, &c.args)
}

// time is how long a request to url takes, as kube-scheduler sees it: it encodes
// the request and decodes the answer, with encoding/json both.
func (c *client) time(ctx context.Context, url string) (time.Duration, error) {
	start := time.Now()
	for range c.repeat {
		var err error
		if c.body, err = json.Marshal(&c.args); err != nil {
			return 0, err
		}
		var result extenderv1.ExtenderFilterResult
		answer, err := c.answer(ctx, url)
		if err == nil {
			err = json.Unmarshal(answer, &result)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(c.repeat), nil
}

func (c *client) answer(ctx context.Context, url string) ([]byte, error) {
	var answer bytes.Buffer
	err := c.send(ctx, url, &answer)
	return answer.Bytes(), err
}

func (c *client) send(ctx context.Context, url string, to io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	// Hidden, or Discard would read with a small buffer of its own.
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, response.Body, c.buffer)
	return err
}
