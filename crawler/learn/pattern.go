package learn

import (
	"slices"
	"strings"
)

// # A budget that learns
//
// URLs of one shape (see [Shape]) are made by one program, and lead to pages of one kind. If
// a row of them were copies, twice as many as ever had a page of their own, the shape's next URLs
// are put last, but for samples: one in
// leastStride, then fewer, down to one in mostStride. A sample that has a page of its own
// wins the budget back: what was put last is queued again, the next time it takes twice as
// many copies in a row to lose the budget, and samples are twice as many. So a shape of which
// a fair share is unique is soon fetched whole, and one that is nothing but copies costs its
// first row and a quarter of the rest.
//
// A URL with a query has two shapes: its path with the names of its parameters, and its path
// with any. Combinations of parameters multiply, and each would need a row of its own; so
// where a combination has no row yet, the row of its path counts. One that has had a page of
// its own is judged by itself.
const (
	row         = 16 // copies
	rowAPage    = 2  // copies for each page of its own: a shape that led to 48 pages and then to 16 copies may lead to more pages
	leastStride = 2
	mostStride  = 4

	mostPatterns = 4096 // of a host; of what comes after, nothing is learned
)

// A Pattern is what is known of the URLs of one shape.
type Pattern struct {
	Unique int64 `json:"unique"`           // pages of their own, of those fetched
	Copies int64 `json:"copies"`           // of others
	Row    int64 `json:"row"`              // copies since the last page of its own
	Won    int   `json:"won,omitempty"`    // how often a sample won the budget back
	Last   int64 `json:"last,omitempty"`   // URLs that were put last
	Asked  int64 `json:"asked,omitempty"`  // URLs since the last sample
	Stride int64 `json:"stride,omitempty"` // from a sample to the next
}

// spent says whether the shape has lost its budget.
func (p *Pattern) spent() bool {
	return p != nil && p.Row >= max(row<<min(p.Won, 20), rowAPage*p.Unique)
}

// putLast returns the shape for which a URL is to be put last, "" if it is to be fetched.
func (h *Host) putLast(url string) string {
	own, any := Shape(url)
	p, shape := h.Patterns[own], own
	if any != "" && !p.spent() && (p == nil || p.Unique == 0) {
		p, shape = h.Patterns[any], any
	}
	if !p.spent() {
		return ""
	}
	p.Stride = max(p.Stride, leastStride>>p.Won, 1)
	if p.Asked++; p.Asked >= p.Stride {
		p.Asked, p.Stride = 0, max(min(2*p.Stride, mostStride>>p.Won), 1)
		return ""
	}
	p.Last++
	return shape
}

// judgePattern counts a page for its shapes.
func (h *Host) judgePattern(url string, v *Verdict) {
	own, any := Shape(url)
	for _, shape := range []string{own, any} {
		if p := h.pattern(shape); p != nil {
			p.judge(v.Copy())
		}
	}
}

func (p *Pattern) judge(isCopy bool) {
	if isCopy {
		p.Copies++
		p.Row++
		return
	}
	if p.spent() {
		p.Won++
	}
	p.Unique++
	p.Row, p.Asked, p.Stride = 0, 0, 0
}

// pattern is what is known of a shape, nil for "" and if there is no room for another.
func (h *Host) pattern(shape string) *Pattern {
	p := h.Patterns[shape]
	if p != nil || shape == "" || len(h.Patterns) >= mostPatterns {
		return p
	}
	if h.Patterns == nil {
		h.Patterns = map[string]*Pattern{}
	}
	p = &Pattern{}
	h.Patterns[shape] = p
	return p
}

// WonBack says whether a URL that was put last for its pattern would be fetched now.
func (h *Host) WonBack(url string) bool {
	own, any := Shape(url)
	p := h.Patterns[own]
	if any != "" && !p.spent() && (p == nil || p.Unique == 0) {
		p = h.Patterns[any]
	}
	return !p.spent()
}

// Shape is the pattern of a canonical URL: its path with numbers, dates and hashes in
// general, its last segment a word in general, and the names of its parameters in order.
// any is the same with whatever parameters, "" for a URL without a query.
func Shape(url string) (own, any string) {
	path, query, hasQuery := strings.Cut(pathOf(url), "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = general(s, i == len(segments)-1)
	}
	path = strings.Join(segments, "/")
	if !hasQuery {
		return path, ""
	}
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, general(name, false))
	}
	slices.Sort(names)
	return path + "?" + strings.Join(slices.Compact(names), "&"), path + "?…"
}

// pathOf is a canonical URL behind its host.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:]
	}
	return "/"
}

// originOf is the scheme and the host of a canonical URL.
func originOf(url string) string { return url[:len(url)-len(pathOf(url))] }

// hostOf is the host of a canonical URL, with its port.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// general is a segment of a path with what varies in it in general.
func general(segment string, last bool) string {
	const leastHash = 8
	stem, ext := segment, ""
	if dot := strings.LastIndexByte(segment, '.'); last && dot > 0 && len(segment)-dot <= 6 {
		stem, ext = segment[:dot], segment[dot:]
	}
	switch digits, letters, hex := kinds(stem); {
	case stem == "":
		return segment
	case digits && !letters:
		return "{n}" + ext // a date too
	case digits && hex && len(stem) >= leastHash:
		return "{hash}" + ext
	case last:
		return "{word}" + ext
	case digits:
		return numbers(segment)
	}
	return segment
}

// kinds says what a text has: digits, letters or other signs but for those that stand in dates,
// and whether all of it may be a number in hexadecimal.
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

// numbers writes {n} for each run of digits.
func numbers(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] < '0' || s[i] > '9' {
			b.WriteByte(s[i])
			i++
			continue
		}
		for i < len(s) && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		b.WriteString("{n}")
	}
	return b.String()
}
