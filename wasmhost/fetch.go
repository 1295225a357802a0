package wasmhost

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
)

// maxRedirects bounds how often a server may send the fetch elsewhere.
const maxRedirects = 5

// fetch reads a guest whole and checks that it is a Wasm module. Its errors say
// nothing of what was found instead: whoever may name a guest, as everybody who
// reaches a simulator may, is not thereby allowed to read files or other servers.
func (h *Host) fetch(ctx context.Context, from source, limit int64) ([]byte, error) {
	var wasm []byte
	var err error
	switch from.scheme {
	case "http", "https":
		wasm, err = h.download(ctx, from, limit)
	case "oci":
		wasm, err = h.pull(ctx, from.rest, limit)
	case "file":
		wasm, err = readFile(from.rest, limit)
	default:
		return nil, errors.New("the URL must begin with https://, http://, oci:// or file://")
	}
	if err != nil {
		return nil, err
	}
	return wasm, checkMagic(wasm)
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

// download is done, body and all, within the timeout.
func (h *Host) download(ctx context.Context, from source, limit int64) ([]byte, error) {
	if from.err != nil {
		return nil, bare(from.err)
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeout())
	defer cancel()
	req := (&http.Request{Method: http.MethodGet, URL: from.url, Close: true}).WithContext(ctx) // one request: keep no connection behind
	client := http.Client{Transport: h.Transport, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", status(resp.StatusCode))
	}
	wasm, err := read(resp.Body, resp.ContentLength, limit)
	if err != nil {
		return nil, h.explain(ctx, err)
	}
	return wasm, nil
}

// read reads r to its end, but never more than the limit. size is what r is
// announced to hold, or -1.
func read(r io.Reader, size, limit int64) ([]byte, error) {
	if err := checkSize(size, limit); err != nil {
		return nil, err
	}
	wasm, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(wasm)) > limit {
		return nil, tooLarge(limit, "")
	}
	return wasm, nil
}

func checkSize(size, limit int64) error {
	if size > limit {
		return tooLarge(limit, fmt.Sprintf(": %d bytes", size))
	}
	return nil
}

func tooLarge(limit int64, found string) error {
	return &ArgsError{"guestSizeLimit", ourErrorf("over guestSizeLimit, %s%s", mebibytes(limit), found)}
}

func (h *Host) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("not fetched within %s: %w", h.timeout(), context.DeadlineExceeded)
	}
	if err = bare(err); !harmless(err) {
		return errNotHTTP
	}
	return err
}

// ourError is in words of this file alone.
type ourError string

func (e ourError) Error() string { return string(e) }

func ourErrorf(format string, args ...any) error { return ourError(fmt.Sprintf(format, args...)) }

var errNotHTTP = errors.New("the answer is not proper HTTP")

// harmless is true of errors that quote nothing of an answer. Those of net/http
// for what is malformed do.
func harmless(err error) bool {
	var connection net.Error
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var words ourError
	return errors.As(err, &connection) || errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &words) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.Is(err, context.Canceled)
}

// status is a code in the words of the standard, not in those of the server.
func status(code int) string { return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code))) }

// bare drops the method and the URL that net/http puts before an error: the
// line that the error ends up in has them already.
func bare(err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		return inURL.Err
	}
	return err
}

// checkRedirect follows a few redirects, and none that gives up encryption.
func checkRedirect(req *http.Request, via []*http.Request) error {
	switch from, to := via[len(via)-1].URL.Scheme, req.URL.Scheme; {
	case len(via) > maxRedirects:
		return ourErrorf("redirected more than %d times", maxRedirects)
	case to != "http" && to != "https":
		return ourErrorf("redirected to what is neither http nor https")
	case from == "https" && to != "https":
		return ourErrorf("redirected from https to http")
	}
	return nil
}

const magic = "\x00asm"

func checkMagic(wasm []byte) error {
	if !strings.HasPrefix(string(wasm[:min(len(wasm), len(magic))]), magic) {
		return errors.New("not a Wasm module")
	}
	return nil
}

func mebibytes(n int64) string {
	if n%(1<<20) != 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
