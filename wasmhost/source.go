package wasmhost

import (
	"net/url"
	"strings"
)

// source is a guestURL.
type source struct {
	scheme, rest string // around the ://
	url          *url.URL
	err          error  // why url is nil, which it may be of a path or an image
	shown        string // without the password that it may carry
}

func parseSource(guestURL string) source {
	s := source{shown: guestURL}
	s.scheme, s.rest, _ = strings.Cut(guestURL, "://")
	s.url, s.err = url.Parse(guestURL)
	switch {
	case s.err != nil:
		s.shown = OneLine(guestURL)
	case s.url.User != nil:
		s.shown = s.url.Redacted()
	}
	return s
}
