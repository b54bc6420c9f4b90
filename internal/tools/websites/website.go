// Package websites has web sites whose truth is known: generated sites that answer as forums,
// wikis, shops and calendars do, each with the set of the texts that it has. A test crawls them
// and compares what it found with what there is.
//
// A site is a function from URLs to answers. It is the same for the same size, so a failure can be
// repeated. [Server] serves a site, and counts what was asked of it.
package websites

import (
	"net/http"
	"net/url"
	"strings"
)

// A Site is a web site of which all texts are known.
type Site struct {
	Name string
	Why  string // what the site tries, in one line

	// Texts names the texts that a crawl is to find.
	Texts []string

	// Open answers a URL. Visit is the number of the request, from 1: a few sites answer each
	// request differently. Answer.Text does not depend on it.
	Open func(u *url.URL, visit int) Answer

	Start string // path and query of the first page; "": /
}

// An Answer is what a site says at one URL.
type Answer struct {
	Status   int    // 0: 200
	Type     string // media type; "": HTML
	Location string // with a redirect
	Body     string

	// Text names the text that the answer has. Two answers with the same name say the same. A
	// name that is not in Site.Texts is a view that nobody misses, such as a form. "": it has none,
	// as an error.
	Text  string
	Sorry bool // the answer has status 200 and says that there is no such page
}

// Of returns the name of the text that the site gives at a URL, and whether its answer says, with
// status 200, that there is no such page.
func (s *Site) Of(rawURL string) (text string, sorry bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false
	}
	a := s.Open(u, 1)
	return a.Text, a.Sorry
}

// All returns all sites, each with about so many real pages; some have fewer. The names are unique.
func All(size int) []*Site {
	return []*Site{
		// recall: what looks like a trap or a copy is a text of its own
		forum(size),
		numbers(size),
		namedIDs(size),
		lateParameter(size),
		languages(size),
		stations(size),
		colours(size),
		templated(size),
		status(size),
		statutes(size),
		dictionary(size),
		cjk(size),
		zones(size),
		missingTopics(size),
		withdrawn(size),

		// economy: many views of each page
		mediaWiki(size),
		dokuWiki(size),
		wordPress(size),
		autoindex(size),
		tracker(size),
		gitWeb(size),
		sessions(size),

		// traps: URLs without end
		calendar(size),
		growing(size),
	}
}

func notFound() Answer {
	p := page{title: "Not found", body: "<p>The requested URL was not found on this server.</p>"}
	return Answer{Status: http.StatusNotFound, Body: p.html()}
}

func redirect(to string) Answer { return Answer{Status: http.StatusFound, Location: to} }

// show is a page that has a text.
func show(text string, p page) Answer { return Answer{Text: text, Body: p.html()} }

// after is the rest of a path behind a prefix.
func after(u *url.URL, prefix string) (rest string, ok bool) {
	return strings.CutPrefix(u.Path, prefix)
}
