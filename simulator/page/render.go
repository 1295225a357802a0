package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"wasmkwokwizardry.io/regex-scheduling/simulator/page/jobs"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"asset":      asset,
	"clock":      func(t time.Time) string { return t.Local().Format("15:04:05") },
	"stamp":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"podURL":     podURL,
	"podCalled":  podCalled,
	"nodeURL":    nodeURL,
	"tell":       tell,
	"regexOf":    regexOf,
	"excludeOf":  excludeOf,
	"ownerOf":    ownerOf,
	"plural":     plural,
	"brief":      brief,
	"kinds":      func() []kind { return kinds },
	"object":     objectOf,
	"postFilter": postFilter,
	"side":       newLoadRow,
}).ParseFS(templateFiles, "templates/*.html"))

func nodeURL(name string) string { return "/nodes/" + url.PathEscape(name) }

func podURL(namespace, name string) string {
	return "/pods/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// podCalled is the address of a pod that is named namespace/name.
func podCalled(name string) string {
	namespace, name, _ := strings.Cut(name, "/")
	return podURL(namespace, name)
}

// frame is what stands around a view when it is asked for as a whole page.
type frame struct {
	Title   string
	Tab     string
	Body    template.HTML
	Summary template.HTML
	Jobs    []*jobs.Job // that are under way
	// Comparisons is whether there are any.
	Comparisons bool
}

// show renders a view: by itself where htmx asks for it, and as a page of its own
// where a person's browser does.
func (p *page) show(w http.ResponseWriter, r *http.Request, view, title, tab string, data any) {
	live := r.Header.Get("HX-Request") != ""
	if live && templates.Lookup(view+"-live") != nil {
		view += "-live" // the part of it that changes
	}
	body, err := execute(view, data)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	w.Header().Set("Vary", "HX-Request")
	if live {
		write(w, r, body)
		return
	}
	p.frame(w, r, http.StatusOK, frame{Title: title, Tab: tab, Body: template.HTML(body)})
}

func (p *page) frame(w http.ResponseWriter, r *http.Request, status int, f frame) {
	compared := p.comparisons.list()
	f.Jobs, f.Comparisons = p.jobs.Running(), len(compared) > 0
	if f.Tab == comparisonsTab { // which shows them itself
		f.Jobs = slices.DeleteFunc(f.Jobs, func(job *jobs.Job) bool {
			return slices.ContainsFunc(compared, func(one *comparison) bool { return one.Job == job })
		})
	}
	data, err := p.summaryOf()
	if err == nil {
		var summary []byte
		summary, err = execute("summary", data)
		f.Summary = template.HTML(summary)
	}
	var whole []byte
	if err == nil {
		whole, err = execute("layout", f)
	}
	if err != nil {
		slog.Error("page", "path", r.URL.Path, "error", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(whole)
}

// seenHeader is how the browser says which rendering of a view it shows.
const seenHeader = "X-Seen"

// write sends a fragment, unless it is what the browser shows already: then
// nothing on the screen is touched. A fragment that wants this contains the word
// seenMark where its own mark goes.
func write(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Cache-Control", "no-store")
	if bytes.Contains(body, []byte(seenMark)) {
		sum := sha256.Sum256(body)
		mark := hex.EncodeToString(sum[:8])
		if r.Header.Get(seenHeader) == mark {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		body = bytes.ReplaceAll(body, []byte(seenMark), []byte(mark))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body)
}

const seenMark = "mark-of-this-view"

func execute(view string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, view, data); err != nil {
		return nil, fmt.Errorf("view %s: %w", view, err)
	}
	return out.Bytes(), nil
}

// fragment sends a view by itself with a status.
func (p *page) fragment(w http.ResponseWriter, r *http.Request, status int, view string, data any) {
	body, err := execute(view, data)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// fail is for what should not happen.
func (p *page) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // and nobody waits for it
	}
	slog.Error("page", "path", r.URL.Path, "error", err)
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

func (p *page) notFound(w http.ResponseWriter, r *http.Request) {
	p.gone(w, r, "There is no such page here.")
}

// gone says that something is not there (any more).
func (p *page) gone(w http.ResponseWriter, r *http.Request, what string) {
	if r.Header.Get("HX-Request") != "" {
		body, _ := execute("gone", what)
		write(w, r, body)
		return
	}
	body, _ := execute("gone", what)
	p.frame(w, r, http.StatusNotFound, frame{Title: "Not found", Body: template.HTML(body)})
}
