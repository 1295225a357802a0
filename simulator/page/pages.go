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
	Number, Last, From, All int
	// ID begins those of the links to other pages.
	ID string
	// In is what another page takes the place of: the nearest of this class around
	// the links.
	In string
	// Main: the address bar follows.
	Main bool

	parameter, path string
	query           url.Values
	size            int
}

// cut takes the page that the query asks for out of a list.
func cut[T any](all []T, r *http.Request, parameter string, size int) pageOf[T] {
	p := pageAt[T](len(all), r.URL.Path, r.URL.Query(), parameter, size)
	p.Main = r.URL.Path == "/" || r.URL.Path == "/pods"
	return p.of(all)
}

// pageAt is the page that a query asks for, without its items.
func pageAt[T any](all int, path string, query url.Values, parameter string, size int) pageOf[T] {
	p := pageOf[T]{
		All: all, Last: max(1, (all+size-1)/size), ID: parameter, In: "live",
		parameter: parameter, path: path, query: query, size: size,
	}
	p.Number, _ = strconv.Atoi(query.Get(parameter))
	p.Number = min(max(1, p.Number), p.Last)
	p.From = (p.Number - 1) * size
	return p
}

func (p pageOf[T]) of(all []T) pageOf[T] {
	p.Items = all[p.From:min(len(all), p.From+p.size)]
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
	q.Set(p.parameter, strconv.Itoa(number))
	return p.path + "?" + q.Encode()
}
