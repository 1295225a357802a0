package fetch

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost"
)

// Version is for [wasmhost.Options]: of a file its time and size, of a web server's answer to HEAD ETag, Last-Modified and Content-Length,
// of an image its digest. A server that answers none of these, or nothing to HEAD, has no version.
func (f Fetcher) Version(ctx context.Context, args wasmhost.Args) (version string, err error) {
	ctx, cancel := f.timeout(ctx)
	defer cancel()
	from := parse(args.GuestURL)
	switch from.scheme {
	case "http", "https":
		version, err = f.headVersion(ctx, from)
	case "oci":
		version, err = f.imageVersion(ctx, from.rest)
	case "file":
		version, err = until(ctx, func() (string, error) { return fileVersion(from.rest) })
	default:
		err = errScheme
	}
	return version, f.inTime(ctx, err)
}

func (f Fetcher) headVersion(ctx context.Context, from source) (string, error) {
	resp, err := f.request(ctx, http.MethodHead, from)
	if err != nil {
		return "", err
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return "", nil
	default:
		return "", fmt.Errorf("the server answered %s", status(resp.StatusCode))
	}
	tag, modified := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	if tag == "" && modified == "" {
		return "", nil
	}
	return fmt.Sprintf("%q %q %d", tag, modified, resp.ContentLength), nil
}

func (f Fetcher) imageVersion(ctx context.Context, image string) (string, error) {
	c, err := f.client(ctx, image, maxRequests)
	if err != nil {
		return "", err
	}
	descriptor, err := c.puller.Head(ctx, c.image)
	if err == nil {
		return descriptor.Digest.String(), nil
	}
	_, manifest, err := c.guest(ctx) // HEAD tells no reason, and not every registry has it
	return manifest.String(), err
}

func fileVersion(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d", info.ModTime(), info.Size()), nil
}
