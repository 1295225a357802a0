// Package fetch gets guests: from web servers, registries and files.
//
// Its errors quote nothing of what a server or a file has answered: a user who may name
// a guest, as everybody who reaches a simulator may, is not thereby allowed to read
// files or other servers.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
)

// Fetcher fetches guests.
type Fetcher struct {
	// Transport carries http, https and oci. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout bounds each fetch from first to last byte.
	Timeout time.Duration
}

// Fetch reads a guest whole, up to a limit in bytes, and checks that it is a Wasm
// module.
func (f Fetcher) Fetch(ctx context.Context, from Source, limit int64) (wasm []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	switch from.scheme {
	case "http", "https":
		wasm, err = f.download(ctx, from, limit)
	case "oci":
		wasm, err = f.pull(ctx, from.rest, limit)
	case "file":
		wasm, err = readWithin(ctx, from.rest, limit)
	default:
		err = errors.New("the URL must begin with https://, http://, oci:// or file://")
	}
	switch {
	case err == nil && !strings.HasPrefix(string(wasm[:min(len(wasm), len(magic))]), magic):
		return nil, errors.New("not a Wasm module")
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("not fetched within %s: %w", f.Timeout, context.DeadlineExceeded)
	}
	return wasm, err
}

// magic begins a Wasm module.
const magic = "\x00asm"

// readWithin is readFile until ctx is done. A read that does not return then, of a server
// of NFS that is gone or of /proc/kmsg, is left to itself: nothing can end it.
func readWithin(ctx context.Context, path string, limit int64) ([]byte, error) {
	type result struct {
		wasm []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		wasm, err := readFile(path, limit)
		done <- result{wasm, err}
	}()
	select {
	case r := <-done:
		return r.wasm, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file") // a pipe would block, a device never end
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, info.Size(), limit)
}

func (f Fetcher) download(ctx context.Context, from Source, limit int64) ([]byte, error) {
	if from.err != nil && strings.Contains(from.rest, "@") { // the cause may quote a part of a password
		return nil, errors.New("not a valid URL: write special characters of a password as %XX")
	}
	if from.err != nil {
		return nil, errors.Unwrap(from.err) // without the URL, which the line that this ends up in has
	}
	req := (&http.Request{Method: http.MethodGet, URL: from.url, Close: true}).WithContext(ctx) // one request: keep no connection
	client := http.Client{Transport: f.Transport, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, explain(err, stageHTTP)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", status(resp.StatusCode))
	}
	wasm, err := read(resp.Body, resp.ContentLength, limit)
	return wasm, explain(err, stageHTTP)
}

// maxRedirects bounds how often a server may redirect a fetch.
const maxRedirects = 5

// checkRedirect follows a few redirects, and none that gives up encryption.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch from, to := via[len(via)-1].URL.Scheme, req.URL.Scheme; {
	case len(via) > maxRedirects:
		return errRedirects
	case to != "http" && to != "https":
		return failure{text: "redirected to what is neither http nor https"}
	case from == "https" && to != "https":
		return failure{text: "redirected from https to http"}
	}
	return nil
}

var errRedirects = failure{text: fmt.Sprintf("redirected more than %d times", maxRedirects)}

// read reads to the end, but never more than the limit. size is what r is announced
// to hold, or -1.
func read(r io.Reader, size, limit int64) ([]byte, error) {
	if err := checkSize(size, limit); err != nil {
		return nil, err
	}
	wasm, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(wasm)) > limit {
		return nil, errTooLarge(limit)
	}
	return wasm, err
}

// checkSize rejects a guest that has more bytes than the limit.
func checkSize(size, limit int64) error {
	if size > limit {
		return failure{fmt.Sprintf("%s: %d bytes", errTooLarge(limit), size), ErrTooLarge}
	}
	return nil
}

// ErrTooLarge is in the errors of guests that are over the limit.
var ErrTooLarge = errors.New("over guestSizeLimit")

func errTooLarge(limit int64) error {
	if limit%(1<<20) != 0 {
		return failure{fmt.Sprintf("%v, %d bytes", ErrTooLarge, limit), ErrTooLarge}
	}
	return failure{fmt.Sprintf("%v, %d MiB", ErrTooLarge, limit>>20), ErrTooLarge}
}

// failure is an error that quotes no answer. Its cause, if there is one, may do so, and is
// not shown.
type failure struct {
	text  string
	cause error
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.cause }

// stageHTTP is the stage of all that net/http does.
const stageHTTP = "the answer is not proper HTTP"

// explain shows what an error says if it quotes nothing of an answer. In place of
// others, such as those of net/http for what is malformed, it names the stage.
func explain(err error, stage string) error {
	var ours failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return ours
	}
	shown := err
	var request *url.Error
	if errors.As(err, &request) {
		shown, stage = request.Err, stageHTTP // the line that this ends up in has the URL already
	}
	var connection net.Error
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(shown, &connection), errors.As(shown, &certificate), errors.As(shown, &record):
		return shown
	case errors.Is(shown, io.EOF), errors.Is(shown, io.ErrUnexpectedEOF), errors.Is(shown, http.ErrSchemeMismatch), errors.Is(shown, context.Canceled):
		return shown
	}
	return failure{stage, err}
}

// status is a code in the words of the standard, not in those of the server.
func status(code int) string { return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code))) }

// maxShown bounds how much of a path or an image is shown, in bytes.
const maxShown = 1024

// Source is where a guest is.
type Source struct {
	scheme, rest string // around the ://
	url          *url.URL
	err          error // why url is nil, as it may be for a path or an image
	shown        string
}

// Parse reads a guestURL. An error in it is for [Fetcher.Fetch] to return.
func Parse(guestURL string) Source {
	s := Source{shown: guestURL}
	s.scheme, s.rest, _ = strings.Cut(guestURL, "://")
	s.url, s.err = url.Parse(guestURL)
	switch {
	case s.scheme == "http" || s.scheme == "https":
		s.shown = printable.URL(guestURL)
	case s.scheme == "file" || isImage(s.rest) || !strings.Contains(guestURL, "@"): // which may look like no URL
		s.shown = printable.Line(guestURL, maxShown)
	default: // it may have a password
		s.shown = printable.Line(strings.TrimSuffix(s.scheme, guestURL)+"://…", maxShown)
	}
	return s
}

// String is the URL without the secrets that it may carry.
func (s Source) String() string { return s.shown }
