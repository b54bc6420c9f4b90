// Package segment divides the URLs of a crawl into named segments, such as the manual and the shop of a site. The
// user defines them in the configuration file. No store keeps the segment of a URL: [List.Of] is the only place that
// decides it, whenever something is shown or written.
package segment

import (
	"regexp"
	"slices"
	"strings"
)

// A Segment is the URLs whose path matches a regular expression.
type Segment struct {
	Name string
	Path *regexp.Regexp // matched with the path as the URL has it, percent-encoded and without the query
}

// A List holds all segments. A URL belongs to the first one that matches.
type List []Segment

// Of returns the name of the segment of a URL, or "" if it has none. A URL without a path has the path "/".
func (l List) Of(rawURL string) string {
	_, path, _ := strings.Cut(rawURL, "://")
	path, _, _ = strings.Cut(path, "#")
	path, _, _ = strings.Cut(path, "?")
	_, path, _ = strings.Cut(path, "/")
	if i := slices.IndexFunc(l, func(s Segment) bool { return s.Path.MatchString("/" + path) }); i >= 0 {
		return l[i].Name
	}
	return ""
}

// Names returns the names of the segments in order.
func (l List) Names() (names []string) {
	for _, s := range l {
		names = append(names, s.Name)
	}
	return names
}

// A Choice is a segment of a list, or all URLs if Name is "".
type Choice struct {
	List
	Name string
}

// Has reports whether a URL belongs to the chosen segment.
func (c Choice) Has(rawURL string) bool { return c.Name == "" || c.Of(rawURL) == c.Name }
