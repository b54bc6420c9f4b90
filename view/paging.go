package view

import (
	"net/http"
	"net/url"
	"strconv"
)

// rowsShown is the maximum number of rows that a list shows at once.
const rowsShown = 50

// A paging says which part of a list a page shows. The templates "paging" and "paging below" take
// it.
type paging struct {
	Total, First, Last int    // First and Last are positions in the whole list, counted from 1
	Earlier, Later     string // addresses of the parts before and after it; "" if there is none
}

// fromOf returns the index in a list at which the requested part of the list begins.
func fromOf(r *http.Request) int {
	from, _ := strconv.Atoi(r.URL.Query().Get("from")) // an invalid number means the beginning
	return max(from, 0)
}

// pagingOf returns the paging of the page at path, which shows the elements with the indexes from
// up to but not including to, out of total.
func pagingOf(path string, r *http.Request, from, to, total int) paging {
	p := paging{Total: total, First: from + 1, Last: to}
	if from > 0 {
		p.Earlier = with(path, r.URL.Query(), "from", strconv.Itoa(max(from-rowsShown, 0)))
	}
	if from < to && to < total {
		p.Later = with(path, r.URL.Query(), "from", strconv.Itoa(to))
	}
	return p
}

// partOf returns the part of a list that the page at path shows, and the paging of the page.
func partOf[T any](path string, r *http.Request, all []T) ([]T, paging) {
	from := min(fromOf(r), len(all))
	to := min(from+rowsShown, len(all))
	return all[from:to], pagingOf(path, r, from, to, len(all))
}

// with returns the address of a list with some parameters changed, from its beginning on. pairs
// alternates between names and values of parameters. The value "" removes a parameter.
func with(path string, form url.Values, pairs ...string) string {
	changed := url.Values{}
	for name, values := range form {
		if name != "from" && values[0] != "" {
			changed[name] = values[:1]
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		changed.Del(pairs[i])
		if pairs[i+1] != "" {
			changed.Set(pairs[i], pairs[i+1])
		}
	}
	if len(changed) == 0 {
		return path
	}
	return path + "?" + changed.Encode()
}
