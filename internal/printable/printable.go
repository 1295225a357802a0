// Package printable makes lines for terminals, logs and events of what a guest, a server, a
// file or an object has. They have no password of a URL.
package printable

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one printable line of a text: it joins lines by "; ", drops what could
// control a terminal, and cuts what is beyond that many bytes, with "…" in its place.
func Line(text string, most int) string {
	text = userinfo.ReplaceAllStringFunc(text, hideUser)
	if len(text) <= most && isLine(text) {
		return text
	}
	const ellipsis = "…"
	cut := len(text) > 4*most // however much of it is dropped
	text = text[:min(len(text), 4*most)]
	var parts []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Map(printable, line))
		if line != "" {
			parts = append(parts, line)
		}
	}
	line := strings.Join(parts, "; ")
	if cut || len(line) > most {
		line = strings.ToValidUTF8(line[:min(len(line), most-len(ellipsis))], "") + ellipsis
	}
	return line
}

// maxShort is how many characters of a value Short leaves, as many as messages of package regex have of a pattern.
const maxShort = 128

// Short cuts the middle out of a long value, with "…" in its place.
func Short(value string) string {
	characters := []rune(value)
	if len(characters) <= maxShort {
		return value
	}
	return string(characters[:maxShort/2]) + "…" + string(characters[len(characters)-maxShort/2+1:])
}

// Quote puts a text between double quotes as it is, and escapes one with a quote or with characters that cannot be printed: as messages of
// package regex have a pattern, which is hard enough to read without doubled backslashes.
func Quote(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r == '"' || !strconv.IsPrint(r) }) {
		return `"` + text + `"`
	}
	return strconv.Quote(text)
}

// userinfo is a URL up to its last "@": a password may have "/", "@", and quotes that are escaped.
var userinfo = regexp.MustCompile(`([a-z0-9]:/+)(?:[^\s"]|\\")*@(sha256:)?`)

// hideUser hides the user of a URL, and the password. The last "@" may be that of a digest.
func hideUser(url string) string {
	parts := userinfo.FindStringSubmatch(url)
	scheme, digest := parts[1], parts[2]
	if digest == "" {
		return scheme + "xxxxx@"
	}
	rest := strings.TrimSuffix(url, "@"+digest)
	user := strings.LastIndex(rest, "@")
	if user < 0 {
		return url
	}
	return scheme + "xxxxx" + rest[user:] + "@" + digest
}

// Whole is Line for a text of any length.
func Whole(text string) string { return Line(text, 4*len(text)) }

// Fprintf is fmt.Fprintf, but of each text, error and fmt.Stringer among the arguments it writes one printable line.
func Fprintf(w io.Writer, format string, args ...any) {
	shown := make([]any, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case string, error, fmt.Stringer:
			arg = Whole(fmt.Sprint(arg))
		}
		shown[i] = arg
	}
	fmt.Fprintf(w, format, shown...)
}

// Error prints an error of a program, each line of it indented but the first.
func Error(w io.Writer, program string, err error) {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = Whole(line)
	}
	fmt.Fprintf(w, "%s: %s\n", program, strings.Join(lines, "\n  "))
}

// Writer is for logs, whose values may have several lines: it drops what could control a terminal.
func Writer(to io.Writer) io.Writer { return writer{to} }

type writer struct{ to io.Writer }

func (w writer) Write(text []byte) (int, error) {
	_, err := w.to.Write(bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text))
	return len(text), err
}

// URL hides what may be a secret in a URL: the user, who may be a token, the password, the query and the
// fragment. Of what is not a URL it shows what is before "://".
func URL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		scheme, _, _ := strings.Cut(text, "://")
		return Whole(scheme) + "://…"
	}
	if u.User != nil {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = "xxxxx", ""
	}
	return u.String()
}

// GuestURL shows where a guest is: a URL as [URL] does, a file or an image as it is. Of anything else with an "@", which may be
// that of a password, it shows what is before "://".
func GuestURL(text string) string {
	scheme, _, _ := strings.Cut(text, "://")
	switch {
	case scheme == "http" || scheme == "https":
		return URL(text)
	case scheme == "file" || !strings.Contains(text, "@") || imageByDigest.MatchString(text):
		return Line(text, maxGuestURL)
	}
	return Line(strings.TrimSuffix(scheme, text)+"://…", maxGuestURL)
}

var imageByDigest = regexp.MustCompile(`^oci://[^@]+/[^@]+@sha256:[0-9a-f]{64}$`)

// maxGuestURL bounds how much of a path or an image is shown, in bytes.
const maxGuestURL = 1024

func isLine(text string) bool {
	for i, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return false
		}
	}
	return strings.TrimSpace(text) == text
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
