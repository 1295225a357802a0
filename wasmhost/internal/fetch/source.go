package fetch

import (
	"net/url"
	"strings"

	"wasmkwokwizardry.io/regex-scheduling/wasmhost/internal/printable"
)

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
	case s.scheme != "http" && s.scheme != "https": // a path or an image, which may look like no URL
		s.shown = printable.Line(guestURL, maxShown)
	case s.err != nil:
		s.shown = s.scheme + "://…"
	default:
		s.shown = redacted(*s.url)
	}
	return s
}

// String is the URL without the secrets that it may carry.
func (s Source) String() string { return s.shown }

// redacted hides what may be a secret: a password, a user alone, as tokens are
// given, the query and the fragment.
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
