package learn

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// # Soft 404
//
// Some hosts have no errors: a URL that does not exist is answered with 200 and a page that says
// so, or with their home page. Such a host is asked, once, for a URL that cannot exist, and what it
// says then is what it says of all that is gone. (The term is that of Bar-Yossef, Broder, Kumar and
// Tomkins, "Sic transit gloria telae", 2004, who ask for a random name in the directory of the URL
// in doubt, as is done here.)
//
// There is a reason to ask when a host has the page of leastAlike copies under other paths, or
// leastThin pages of a few words, which are compared with nobody, or when a page was visited again
// and has become one of those. The reason may be a wrong one: a request is all that costs.
const (
	leastAlike = 4
	leastThin  = 8

	mostSuspects = 16       // pages to be looked at again
	mostAlike    = 4096     // leaders whose copies are counted
	mostSorry    = 32 << 10 // bytes; nobody is sorry at such length
)

// SoftProblem is what records, reports and archives call the problem of a page that says what its
// host says of URLs that cannot exist. The word is stored: it does not change.
const SoftProblem = "soft 404"

// Soft is what a host said of a URL that cannot exist.
type Soft struct {
	Probe  string `json:"probe"`           // the URL
	Status int    `json:"status"`          // of the answer; 0: there was none
	Text   string `json:"text,omitempty"`  // of a page that came with status 200; "": there was none
	Real   string `json:"real,omitempty"`  // the URL that the page names as its own; "": none
	Pages  int64  `json:"pages,omitempty"` // of the host that say the same
}

// Says says whether the host answers such URLs with a page.
func (s *Soft) Says() bool { return s != nil && s.Text != "" }

// doubt takes in what a page says of its host's errors.
func (h *Host) doubt(url string, v *Verdict) {
	if h.Soft != nil || h.Doubt != "" && len(h.Suspects) >= mostSuspects {
		return
	}
	elsewhere := v.Copy() && path(url) != path(v.Leader)
	switch {
	case elsewhere:
		if h.alike == nil {
			h.alike = map[[16]byte]int{}
		}
		if _, known := h.alike[v.Group]; !known && len(h.alike) >= mostAlike {
			return
		}
		if h.alike[v.Group]++; h.alike[v.Group] == leastAlike {
			h.suspect(v.Leader)
			h.Doubt = url
		}
	case v.Thin:
		h.suspect(url)
		if h.thin++; h.thin == leastThin {
			h.Doubt = url
		}
	}
	if v.Changed && (elsewhere || v.Thin) {
		h.suspect(url)
		h.Doubt = url
	}
}

func (h *Host) suspect(url string) {
	if len(h.Suspects) < mostSuspects && !slices.Contains(h.Suspects, url) {
		h.Suspects = append(h.Suspects, url)
	}
}

// path is the path of a canonical URL.
func path(url string) string {
	path, _, _ := strings.Cut(pathOf(url), "?")
	return path
}

// ProbeOf is a URL in the directory of another that cannot exist: nobody has a name that follows
// from the hash of his own. It is always the same, so that nobody is asked for two.
func ProbeOf(url string) string {
	sum := sha256.Sum256([]byte("a page that cannot exist on " + hostOf(url)))
	var name strings.Builder
	for _, b := range sum[:12] {
		name.WriteByte('a' + b%26)
	}
	dir := path(url)
	return originOf(url) + dir[:strings.LastIndexByte(dir, '/')+1] + name.String()
}

// Plain is a text without the URL that it was found under: many pages that say what is not there
// repeat what was asked for. Words shorter than leastEcho are left, for they may be anything.
func Plain(text, url string) string {
	const leastEcho = 4
	p := path(url)
	for _, echo := range []string{url, p, strings.Trim(p, "/"), p[strings.LastIndexByte(p, '/')+1:]} {
		if len(echo) >= leastEcho {
			text = strings.ReplaceAll(text, echo, "")
		}
	}
	return text
}
