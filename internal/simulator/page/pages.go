package page

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// pageOf is a page of a longer list.
type pageOf[T any] struct {
	Items                   []T
	Name                    string // of the parameter in the address
	Number, Last, From, All int
	// Main: the address bar follows.
	Main bool

	path  string
	query url.Values
}

// cut takes the page that the query asks for out of a list.
func cut[T any](all []T, r *http.Request, name string, size int) pageOf[T] {
	p := pageOf[T]{
		Name: name, All: len(all), Last: max(1, (len(all)+size-1)/size),
		Main: r.URL.Path == "/" || r.URL.Path == "/pods",
		path: r.URL.Path, query: r.URL.Query(),
	}
	p.Number, _ = strconv.Atoi(p.query.Get(name))
	p.Number = min(max(1, p.Number), p.Last)
	p.From = (p.Number - 1) * size
	p.Items = all[p.From:min(len(all), p.From+size)]
	return p
}

// First and To number the items on the page, from 1.
func (p pageOf[T]) First() int { return p.From + 1 }
func (p pageOf[T]) To() int    { return p.From + len(p.Items) }

// Previous and Next are addresses of other pages, or empty.
func (p pageOf[T]) Previous() string { return p.link(p.Number - 1) }
func (p pageOf[T]) Next() string     { return p.link(p.Number + 1) }

func (p pageOf[T]) link(number int) string {
	if number < 1 || number > p.Last {
		return ""
	}
	q := maps.Clone(p.query)
	q.Set(p.Name, strconv.Itoa(number))
	return p.path + "?" + q.Encode()
}
