package learn

import (
	"regexp"
	"slices"
	"strings"

	"skink/frontier"
)

// # Patterns of URLs
//
// The URLs that one program of a site generates share a pattern. A URL belongs to several patterns,
// from fine to coarse, because it is not known in advance which of them matches the program:
//
//	/repo/log/src/a.c?h=main&ofs=50
//
//	/repo/log/src/a.c?h=main&ofs            path, names, and values of parameters that have few
//	/repo/log/src/a.c?h&ofs                 path and names
//	/repo/log/src/{word}.c?h&ofs            path with any last segment, and names
//	/repo/log/src/{word}.c?…                path with any query
//	/repo/log/…/{word}.c?h&ofs              the first two segments and the last, with names
//	/…/{word}.c?h&ofs                       the last segment, with names
//
// In paths, placeholders replace numbers, dates and hashes. Path parameters keep their names:
// /a;sid=17 becomes /a;sid. A parameter has few values if the fetched URLs had no more than
// fewValues. The same limit applies to the last segments in a folder. Different numbers are never
// distinguished. If only one URL can match a pattern, the pattern is not used.
const (
	fewValues    = 16
	longestValue = 24 // maximum length in bytes of a value in a pattern
	maxPatterns  = 4096
)

// An address is a canonical URL split into parts.
type address struct {
	url   string
	path  string
	query query
	shape string // of the path
	names string // of the parameters, after a question mark; empty if the URL has no question mark
}

func addressOf(url string) *address {
	path, text, asks := strings.Cut(pathOf(url), "?")
	a := &address{url: url, path: path, query: query(text), shape: shapeOfPath(path)}
	if asks {
		a.names = a.query.names(func(string, string) bool { return false })
	}
	return a
}

func (a *address) pattern() string { return a.shape + a.names }

// Shape returns one of the patterns of a canonical URL: the shape of its path with the names of its
// parameters.
func Shape(url string) string {
	return addressOf(url).pattern()
}

// patterns returns the patterns of a URL, finest first.
func (h *Host) patterns(a *address) []string {
	at := lastSegment(a.shape)
	folder, exact, names := a.shape[:at], a.shape, a.names
	if last, varies := a.last(); varies && telling(last) && h.fewValues(folder, "", last) {
		exact = folder + last
	}
	if names != "" {
		names = a.query.names(func(name, value string) bool { return telling(value) && h.fewValues(a.shape, name, value) })
	}
	all := append(make([]string, 0, 6), exact+names, exact+a.names, a.pattern())
	if names != "" {
		all = append(all, a.shape+"?…")
	}
	for _, keep := range []int{2, 0} {
		if head := headOf(folder, keep); head != "" {
			all = append(all, head+"…/"+a.shape[at:]+a.names)
		}
	}
	return slices.Compact(all)
}

// last returns the last segment of the path. It also reports whether other URLs may have the same
// last segment in a folder of the same shape.
func (a *address) last() (last string, varies bool) {
	at := lastSegment(a.path)
	return a.path[at:], a.names != "" || !strings.HasPrefix(a.shape, a.path[:at])
}

func shapeOfPath(path string) string {
	shape, at, last := make([]byte, 0, 128), 0, lastSegment(path)
	for segment := range strings.SplitSeq(path, "/") {
		if at > 0 {
			shape = append(shape, '/')
		}
		name, parameters, _ := strings.Cut(segment, ";")
		shape = appendGeneral(shape, name, at == last)
		for p := range strings.FieldsFuncSeq(parameters, separators) {
			name, _, _ := strings.Cut(p, "=")
			shape = appendGeneral(append(shape, ';'), name, false)
		}
		at += len(segment) + 1
	}
	return string(shape)
}

// lastSegment returns the index at which the last segment of a path begins. A trailing slash
// belongs to the last segment.
func lastSegment(path string) int {
	return strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/') + 1
}

// headOf returns the first n segments of a folder's path, or "" if the path has at most n segments.
func headOf(folder string, n int) string {
	parts := strings.SplitAfterN(folder, "/", n+2)
	if len(parts) < n+2 || parts[n+1] == "" {
		return ""
	}
	return strings.TrimSuffix(folder, parts[n+1])
}

// separators reports whether r separates parameters. Gitweb and directory listings use the
// semicolon.
func separators(r rune) bool { return r == '&' || r == ';' }

// names returns a question mark and the names of a query's parameters, sorted and without
// duplicates. It includes the value of a parameter if withValue returns true.
func (q query) names(withValue func(name, value string) bool) string {
	var all []string
	for pair := range strings.FieldsFuncSeq(string(q), separators) {
		name, value, found := strings.Cut(pair, "=")
		name = general(name)
		if found && withValue(name, value) {
			name += "=" + value
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return "?" + strings.Join(slices.Compact(all), "&")
}

// telling reports whether a parameter with this value may have only a few different values. It
// returns false for numbers, dates and long values.
func telling(value string) bool {
	if value == "" || len(value) > longestValue {
		return false
	}
	digits, letters, _ := kinds(value)
	return letters || !digits
}

// fewValues reports whether a value is one of a few different values, or may become one. The values
// are those of the named parameter or, if name is "", the last segments in a folder.
func (h *Host) fewValues(path, name, value string) bool {
	known, ok := h.Values[path+"?"+name]
	switch {
	case !ok:
		return len(h.Values) < maxPatterns
	case slices.Contains(known, value):
		return true
	}
	return len(known) < fewValues
}

func (h *Host) meetValues(a *address) {
	if last, varies := a.last(); varies {
		h.meetValue(a.shape[:lastSegment(a.shape)], "", last)
	}
	for pair := range strings.FieldsFuncSeq(string(a.query), separators) {
		name, value, _ := strings.Cut(pair, "=")
		h.meetValue(a.shape, general(name), value)
	}
}

func (h *Host) meetValue(path, name, value string) {
	if !telling(value) {
		return
	}
	of := path + "?" + name
	known, ok := h.Values[of]
	switch {
	case len(known) > fewValues, slices.Contains(known, value), !ok && len(h.Values) >= maxPatterns:
	case len(known) == fewValues:
		h.Values[of] = make([]string, fewValues+1) // a list of this length means that there are too many values
	default:
		if h.Values == nil {
			h.Values = map[string][]string{}
		}
		h.Values[of] = append(known, value)
	}
}

// pathOf returns the part of a canonical URL after its host.
func pathOf(url string) string { return url[len(frontier.Origin(url)):] }

func hostOf(url string) string { return frontier.HostOf(url) }

var number = regexp.MustCompile(`[0-9]+`)

// general returns the name of a parameter with placeholders for its variable parts.
func general(name string) string {
	return string(appendGeneral(nil, name, false))
}

// appendGeneral appends a segment of a path with placeholders for its variable parts.
func appendGeneral(shape []byte, segment string, last bool) []byte {
	const shortestHash = 8
	stem, ext := segment, ""
	if dot := strings.LastIndexByte(segment, '.'); last && dot > 0 && len(segment)-dot <= 6 {
		stem, ext = segment[:dot], segment[dot:]
	}
	switch digits, letters, hex := kinds(stem); {
	case stem == "":
		return append(shape, segment...)
	case digits && !letters: // the segment is a number or a date
		return append(append(shape, "{n}"...), ext...)
	case digits && hex && len(stem) >= shortestHash:
		return append(append(shape, "{hash}"...), ext...)
	case last:
		return append(append(shape, "{word}"...), ext...)
	case digits:
		return append(shape, number.ReplaceAllLiteralString(segment, "{n}")...)
	}
	return append(shape, segment...)
}

// kinds reports whether a string contains digits, whether it contains letters or other characters
// (except the hyphens of dates), and whether it may be a hexadecimal number.
func kinds(s string) (digits, letters, hex bool) {
	hex = true
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			letters = true
		case c == '-':
		default:
			letters, hex = true, false
		}
	}
	return digits, letters, hex
}
