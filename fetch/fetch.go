// Package fetch gets guests for package wasmhost, from web servers, registries and files, and verifies their signatures.
//
//	host := wasmhost.New(fetch.Fetcher{}.Options())
//
// Its errors quote nothing of what a server or a file has answered: a user who may name a guest, as everybody who reaches a
// simulator may, is not thereby allowed to read files or other servers.
package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/printable"
	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// DefaultTimeout is the Timeout of a [Fetcher].
const DefaultTimeout = 10 * time.Second

// Fetcher fetches guests. The zero value is ready to use.
type Fetcher struct {
	// Transport carries http, https and oci. Nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Timeout bounds the fetch of a guest, from first to last byte, and that of its signature. Zero is DefaultTimeout.
	Timeout time.Duration
}

// Options has all methods of the Fetcher.
func (f Fetcher) Options() wasmhost.Options {
	return wasmhost.Options{Fetch: f.Fetch, Verify: f.Verify, FetchNew: f.FetchNew}
}

// Fetch is for [wasmhost.Options]. It returns the guest at GuestURL of args, a Wasm module of at most GuestSizeLimit. An error about
// the latter is a [wasmhost.ArgsError].
func (f Fetcher) Fetch(ctx context.Context, args wasmhost.Args) ([]byte, error) {
	wasm, _, err := f.FetchNew(ctx, args, "")
	return wasm, err
}

// FetchNew is Fetch for a guest that has another version than that, and returns its version; else it returns no guest. A version is the
// URL that a web server has led to and its strong ETag, the digest of an image's manifest, or empty: of a file, whose time and size
// can stay, and of a server without ETag.
func (f Fetcher) FetchNew(ctx context.Context, args wasmhost.Args, version string) (wasm []byte, now string, err error) {
	ctx, cancel := f.timeout(ctx)
	defer cancel()
	limit := cmp.Or(args.GuestSizeLimit.Value(), wasmhost.DefaultGuestSize)
	from := parse(args.GuestURL)
	switch from.scheme {
	case "http", "https":
		wasm, now, err = f.download(ctx, from, limit, version)
	case "oci":
		wasm, now, err = f.pull(ctx, from.rest, limit, version)
	case "file":
		wasm, err = readInTime(ctx, from.rest, limit)
	default:
		err = errors.New("the URL must begin with https://, http://, oci:// or file://")
	}
	switch {
	case errors.Is(err, errOverLimit):
		return nil, "", &wasmhost.ArgsError{Field: "guestSizeLimit", Err: err}
	case err == nil && wasm == nil && now == version && now != "":
		return nil, now, nil
	case err == nil && !strings.HasPrefix(string(wasm[:min(len(wasm), len(magic))]), magic):
		return nil, "", errors.New("not a Wasm module") // the host may show the digest of one, and of nothing else
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, "", &wasmhost.UnavailableError{Err: fmt.Errorf("not fetched within %s: %w", cmp.Or(f.Timeout, DefaultTimeout), context.DeadlineExceeded)}
	case err != nil:
		return nil, "", err
	}
	return wasm, now, nil
}

// timeout bounds all that is done for one guest.
func (f Fetcher) timeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(f.Timeout, DefaultTimeout))
}

// magic begins a Wasm module.
const magic = "\x00asm"

// readFile reads a regular file.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file") // a pipe would block, a device never end
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info.Size(), limit)
}

// readInTime is readFile until ctx is done. A read that does not return then, of a server of NFS that is gone or of
// /proc/kmsg, is left to itself: nothing can end it. Until it has, the file is not read again.
func readInTime(ctx context.Context, path string, limit int64) (content []byte, err error) {
	if _, stuck := left.Load(path); stuck {
		return nil, errStuck
	}
	done := make(chan struct{})
	var read []byte
	var readErr error
	go func() {
		read, readErr = readFile(path, limit)
		close(done)
		left.Delete(path)
	}()
	select {
	case <-done:
		return read, readErr
	case <-ctx.Done():
		left.Store(path, nil)
		select {
		case <-done:
			left.Delete(path)
		default:
		}
		return nil, ctx.Err()
	}
}

// left has the paths of files whose reads are left to themselves.
var left sync.Map

var errStuck = errors.New("an earlier read of the file has not returned")

func (f Fetcher) download(ctx context.Context, from source, limit int64, version string) (wasm []byte, now string, err error) {
	if from.err != nil && strings.Contains(from.rest, "@") { // the cause may quote a part of a password
		return nil, "", errors.New("not a valid URL: write special characters of a password as %XX")
	}
	if from.err != nil {
		return nil, "", errors.Unwrap(from.err) // without the URL, which the line that this ends up in has
	}
	req := (&http.Request{Method: http.MethodGet, URL: from.url, Close: true}).WithContext(ctx) // one request: keep no connection
	where, tag, _ := strings.Cut(version, " ")
	if tag != "" {
		req.Header = http.Header{"If-None-Match": {tag}}
	}
	client := http.Client{Transport: f.Transport, CheckRedirect: checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", explain(err, stageHTTP)
	}
	defer resp.Body.Close()
	finally := resp.Request.URL.String()
	switch {
	case tag != "" && resp.StatusCode == http.StatusNotModified && finally == where:
		return nil, version, nil
	case tag != "" && resp.StatusCode == http.StatusNotModified: // what it was redirected to may have the tag of another guest
		return f.download(ctx, from, limit, "")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, "", answered("the server", resp.StatusCode, "")
	}
	wasm, err = readAll(resp.Body, resp.ContentLength, limit)
	now = strongTag(resp.Header.Get("ETag"))
	if now != "" {
		now = finally + " " + now
	}
	return wasm, now, explain(err, stageHTTP)
}

// maxTag bounds an ETag, in bytes. One that is longer is none.
const maxTag = 256

// strongTag is an ETag if no other guest can have it: a weak one is of what a server takes for the same.
func strongTag(tag string) string {
	if !strings.HasPrefix(tag, `"`) || len(tag) > maxTag {
		return ""
	}
	return tag
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
	req.Header.Del("Referer") // which would show the next server a token in the URL of this one
	return nil
}

var errRedirects = failure{text: fmt.Sprintf("redirected more than %d times", maxRedirects)}

// readAll reads to the end, but never more than the limit. size is what r is announced to hold, or -1.
func readAll(r io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, errTooLarge(limit, size)
	}
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, errTooLarge(limit, -1)
	}
	return content, err
}

// errOverLimit is in the errors of guests that are over the limit.
var errOverLimit = errors.New("over guestSizeLimit")

// errTooLarge is of a guest of that size, or of one whose size is not known, -1.
func errTooLarge(limit, size int64) error {
	text := fmt.Sprintf("%v, %d bytes", errOverLimit, limit)
	if limit%(1<<20) == 0 {
		text = fmt.Sprintf("%v, %d MiB", errOverLimit, limit>>20)
	}
	if size >= 0 {
		text += fmt.Sprintf(": %d bytes", size)
	}
	return failure{text, errOverLimit}
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
	var address *net.AddrError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(shown, &certificate): // whose text names what the certificate has
		return failure{whyInvalid(certificate), err}
	case errors.As(shown, &address): // such as a port that is too large
		return shown
	case errors.As(shown, &connection), errors.Is(shown, io.EOF), errors.Is(shown, io.ErrUnexpectedEOF):
		return &wasmhost.UnavailableError{Err: shown}
	case errors.As(shown, &record), errors.Is(shown, http.ErrSchemeMismatch), errors.Is(shown, context.Canceled):
		return shown
	}
	return failure{stage, err}
}

// answered is the error of an answer without a guest. One that does not exist may be of a release that is under way.
func answered(who string, code int, hint string) error {
	err := errors.New(who + " answered " + status(code) + hint)
	switch {
	case slices.Contains(unable, code):
		return err
	case code >= 500, code == http.StatusNotFound, code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		return &wasmhost.UnavailableError{Err: err}
	}
	return err
}

// unable are the statuses of a server which, as it is, will never answer the request.
var unable = []int{
	http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusVariantAlsoNegotiates, http.StatusLoopDetected, http.StatusNotExtended,
	http.StatusNetworkAuthenticationRequired,
}

// status is a code in the words of the standard, not in those of the server.
func status(code int) string { return strings.TrimSpace(fmt.Sprint(code, " ", http.StatusText(code))) }

// source is where a guest is.
type source struct {
	text         string
	scheme, rest string // around the ://
	url          *url.URL
	err          error // why url is nil, as it may be for a path or an image
}

// parse reads a guestURL. An error in it is for [Fetcher.download] to return.
func parse(guestURL string) source {
	s := source{text: guestURL}
	s.scheme, s.rest, _ = strings.Cut(guestURL, "://")
	s.url, s.err = url.Parse(guestURL)
	return s
}

// String is the URL without the secrets that it may have.
func (s source) String() string { return printable.GuestURL(s.text) }

// whyInvalid says what is wrong with the certificate of a server.
func whyInvalid(err error) string {
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return "the server's certificate is not valid for " + host.Host
	case errors.As(err, &unknown):
		return "the server's certificate is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the server's certificate has expired or is not yet valid"
	}
	return "the server's certificate is not valid"
}
