package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/internal/report"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"clock":      func(t time.Time) string { return t.Local().Format("15:04:05") },
	"stamp":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"podURL":     podURL,
	"urlOfPod":   urlOfPod,
	"nodeURL":    nodeURL,
	"editURL":    editURL,
	"first":      func(most int, pods []*podView) []*podView { return pods[:min(most, len(pods))] },
	"more":       func(most, all int) int { return max(0, all-most) },
	"plural":     report.Plural,
	"brief":      report.Brief,
	"kinds":      func() []kind { return kinds },
	"object":     objectOf,
	"postFilter": postFilter,
	"has":        strings.Contains,
	"words":      words,
	"reached":    reached,
}).ParseFS(templateFiles, "templates/*.html"))

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// words is a name that can break where a word of it begins.
func words(name string) template.HTML {
	return template.HTML(capital.ReplaceAllString(template.HTMLEscapeString(name), "$1<wbr>$2"))
}

func nodeURL(name string) string { return "/nodes/" + url.PathEscape(name) }

// editURL is the address of the form of an object, by the key of its kind.
func editURL(key, namespace, name string) string {
	return "/edit/" + key + "?" + url.Values{"namespace": {namespace}, "name": {name}}.Encode()
}

func podURL(namespace, name string) string {
	return "/pods/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// urlOfPod is the address of a pod, of its namespace/name.
func urlOfPod(name string) string {
	namespace, name, _ := strings.Cut(name, "/")
	return podURL(namespace, name)
}

func execute(view string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, view, data); err != nil {
		return nil, fmt.Errorf("view %s: %w", view, err)
	}
	return out.Bytes(), nil
}

func isFragment(r *http.Request) bool { return r.Header.Get("HX-Request") != "" }

const (
	seenHeader = "X-Seen"            // the mark of the rendering that the browser shows
	seenMark   = "mark-of-this-view" // stands in a view for its mark
)

// fragment sends a view by itself. If the view has a mark, and the browser shows that
// rendering already, it sends nothing, and so nothing on the screen changes.
func fragment(w http.ResponseWriter, r *http.Request, view string, data any) error {
	body, err := execute(view, data)
	if err != nil {
		return err
	}
	if bytes.Contains(body, []byte(seenMark)) {
		sum := sha256.Sum256(body)
		mark := hex.EncodeToString(sum[:8])
		if r.Header.Get(seenHeader) == mark {
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		body = bytes.ReplaceAll(body, []byte(seenMark), []byte(mark))
	}
	send(w, http.StatusOK, body)
	return nil
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// notify makes the browser show a line for a moment and, with closes, close the dialog that
// sent the request.
func notify(w http.ResponseWriter, line string, closes bool) {
	event := map[string]string{"notice": url.PathEscape(line)} // a header is ASCII
	if closes {
		event["done"] = ""
	}
	raw, _ := json.Marshal(event)
	w.Header().Set("HX-Trigger", string(raw))
}

// answer answers a button with a notice of what was done, or of the error.
func answer(w http.ResponseWriter, line string, closes bool, err error) error {
	if err != nil {
		line = err.Error()
	}
	notify(w, line, closes && err == nil)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type pageOf[T any] struct {
	pager
	Items []T
}

// pager links a page of a list to the others. From and To are the indices of its items.
type pager struct {
	Number, Last, From, To, All int
	ID                          string // begins the IDs of the links
	In                          string // another page replaces the nearest element of this class
	Main                        bool   // whether the address bar follows

	path      string
	query     url.Values
	parameter string
}

// newPager is for the page that is in a parameter of the query.
func newPager(all int, path string, query url.Values, parameter string, size int) pager {
	last := max(1, (all+size-1)/size)
	number, _ := strconv.Atoi(query.Get(parameter))
	number = min(max(1, number), last)
	return pager{
		All: all, Number: number, Last: last, From: (number - 1) * size, To: min(all, number*size),
		ID: parameter, In: "live", Main: path == "/" || path == "/pods" || path == "/objects",
		path: path, query: query, parameter: parameter,
	}
}

func cut[T any](all []T, r *http.Request, parameter string, size int) pageOf[T] {
	p := newPager(len(all), r.URL.Path, r.URL.Query(), parameter, size)
	return pageOf[T]{p, all[p.From:p.To]}
}

// First is the number of the page's first item, from 1.
func (p pager) First() int { return p.From + 1 }

// Previous and Next are addresses of other pages, or empty.
func (p pager) Previous() string { return p.link(p.Number - 1) }
func (p pager) Next() string     { return p.link(p.Number + 1) }

func (p pager) link(number int) string {
	if number < 1 || number > p.Last {
		return ""
	}
	query := maps.Clone(p.query)
	query.Set(p.parameter, strconv.Itoa(number))
	return p.path + "?" + query.Encode()
}

//go:embed assets
var assets embed.FS
