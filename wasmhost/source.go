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
	shown        string // without the secrets that it may carry
}

func parseSource(guestURL string) source {
	s := source{shown: guestURL}
	s.scheme, s.rest, _ = strings.Cut(guestURL, "://")
	s.url, s.err = url.Parse(guestURL)
	switch {
	case s.scheme != "http" && s.scheme != "https":
		s.shown = OneLine(guestURL) // a path or an image, which may look like no URL
	case s.err != nil:
		s.shown = s.scheme + "://…"
	default:
		s.shown = redacted(*s.url)
	}
	return s
}

// redacted is a URL without what may be a secret: a password, a user alone, as
// tokens are given, the query and the fragment.
func redacted(u url.URL) string {
	if _, named := u.User.Password(); u.User != nil && !named {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = "xxxxx", ""
	}
	return u.Redacted()
}
