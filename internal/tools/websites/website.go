// Package websites generates web sites that behave like forums, wikis, shops and calendars. Every
// text on a site is known. Tests crawl a site, and compare the texts found with those of the site.
//
// A site is a function from URLs to responses. It depends only on its size, so a failure can be
// reproduced. [Server] serves a site, and counts the requests.
package websites

import (
	"net/http"
	"net/url"
	"strings"
)

// A Site is a generated web site. All of its texts are known.
type Site struct {
	Name string
	Why  string // one line: what makes the site hard to crawl

	// Texts lists the names of the texts that a crawl should find.
	Texts []string

	// Open returns the response for a URL. visit counts the requests to the site, from 1. A few sites
	// respond differently to each request, but Answer.Text does not depend on visit.
	Open func(u *url.URL, visit int) Answer

	Start string // path and query of the start URL; "" means "/"
}

// An Answer is a site's response for one URL.
type Answer struct {
	Status   int    // HTTP status; 0 means 200
	Type     string // media type; "" means HTML
	Location string // target of a redirect
	Body     string

	// Text is the name of the text in the response. Two responses with the same name have the same
	// text. A name that is not in Site.Texts belongs to a view that a crawl need not find, such as
	// a form. Text is "" if the response has no text, for example because it is an error.
	Text  string
	Sorry bool // the page does not exist, although the response has status 200
}

// Of returns the Text and Sorry fields of the response for a URL.
func (s *Site) Of(rawURL string) (text string, sorry bool) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", false
	}
	a := s.Open(u, 1)
	return a.Text, a.Sorry
}

// All returns all sites. Most have about size pages with different texts; some have fewer. The
// names of the sites are unique.
func All(size int) []*Site {
	return []*Site{
		// The URLs of these sites look like duplicates, or like an infinite sequence, but each page has a
		// different text.
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

		// These sites have many views of each page.
		mediaWiki(size),
		dokuWiki(size),
		wordPress(size),
		autoindex(size),
		tracker(size),
		gitWeb(size),
		sessions(size),

		// These sites have infinitely many URLs.
		calendar(size),
		growing(size),
	}
}

func notFound() Answer {
	p := page{title: "Not found", body: "<p>The requested URL was not found on this server.</p>"}
	return Answer{Status: http.StatusNotFound, Body: p.html()}
}

func redirect(to string) Answer { return Answer{Status: http.StatusFound, Location: to} }

func show(text string, p page) Answer { return Answer{Text: text, Body: p.html()} }

func after(u *url.URL, prefix string) (rest string, ok bool) {
	return strings.CutPrefix(u.Path, prefix)
}
