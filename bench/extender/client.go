package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client sends one body again and again, over connections that it keeps, and
// takes little time and memory itself.
type client struct {
	http   *http.Client
	body   []byte
	buffer []byte
	// repeat is how many requests one measurement takes, so that short ones
	// are not lost in the clock's noise.
	repeat int
}

func newClient(body []byte) *client {
	return &client{
		http:   &http.Client{Transport: &http.Transport{DisableCompression: true, WriteBufferSize: 256 << 10, ReadBufferSize: 256 << 10}},
		body:   body,
		buffer: make([]byte, 1<<20),
		repeat: max(1, (2<<20)/len(body)),
	}
}

// time is how long a request to url takes, as its sender sees it.
func (c *client) time(ctx context.Context, url string) (time.Duration, error) {
	start := time.Now()
	for range c.repeat {
		if err := c.send(ctx, url, io.Discard); err != nil {
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
