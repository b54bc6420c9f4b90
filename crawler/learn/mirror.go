package learn

import "strings"

// # Mirrors
//
// A host is a mirror of another if its pages are copies of the pages there under the same paths.
// The share counts all its pages, so that a host that only quotes another is not a mirror. If two
// hosts are crawled at once, each leads some of the pages of the other, so leading pages are
// counted too. The host that follows more often is the mirror of the other. But if one host has all
// pages of the other and many more, the other is the mirror, whichever was crawled first.
const (
	leastMirrored = 20  // pages
	mirrorShare   = 0.9 // of the host's pages
	mirrorRate    = 4   // one in 1<<4 of its URLs is a sample
	mostMirrors   = 64  // other hosts that are counted
)

// A Share counts the pages that a host has in common with another.
type Share struct {
	Same    int64  `json:"same"`          // pages that are copies of its page under the same path
	Led     int64  `json:"led,omitempty"` // pages that lead such a copy there
	Example string `json:"example"`       // one of them

	Scheme bool `json:"scheme,omitempty"` // it is this host, by http or https
}

// isMirrored reports whether a page's leader has the same path on another host or under another
// scheme.
func isMirrored(url, leader string) bool {
	return leader != "" && url != leader && pathOf(url) == pathOf(leader)
}

// judgeMirror counts a page that is mirrored.
func (h *Host) judgeMirror(url string, v *Verdict) {
	if s := h.mirror(originOf(v.Leader), url); s != nil {
		s.Same++
		s.Scheme = hostOf(v.Leader) == hostOf(url)
	}
}

// leadMirror counts a page of the host that a page of another follows.
func (h *Host) leadMirror(leader, url string) {
	if s := h.mirror(originOf(url), leader); s != nil {
		s.Led++
	}
}

// mirror returns the share of another host, or nil if there is no room for it.
func (h *Host) mirror(other, example string) *Share {
	s := h.Mirrors[other]
	if s == nil && len(h.Mirrors) < mostMirrors {
		if h.Mirrors == nil {
			h.Mirrors = map[string]*Share{}
		}
		s = &Share{Example: example}
		h.Mirrors[other] = s
	}
	return s
}

// MirrorOf returns the host of which this host is a mirror, with its share of this host's pages; ""
// if there is none. known returns the evidence about another host, nil if there is none, and may be
// nil itself.
func (h *Host) MirrorOf(known func(host string) *Host) (other string, share float64) {
	for name, s := range h.Mirrors {
		of := h.shareOf(name, s)
		if s.Same+s.Led < leastMirrored || of < mirrorShare || s.Same <= s.Led && !isPart(name, s, known) {
			continue
		}
		if of > share || of == share && name < other {
			other, share = name, of
		}
	}
	return other, share
}

// shareOf is the share of this host's pages that another has under the same paths.
func (h *Host) shareOf(other string, s *Share) float64 {
	return float64(s.Same+s.Led) / float64(max(h.pagesBeside(other, s), 1))
}

// isPart says whether another host has so much besides what it shares with this one that it is no
// mirror itself.
func isPart(other string, s *Share, known func(host string) *Host) bool {
	own := originOf(s.Example)
	if known == nil || hostOf(own) == hostOf(other) {
		return false
	}
	h := known(hostOf(other))
	if h == nil || h.Mirrors[own] == nil {
		return false
	}
	return h.shareOf(own, h.Mirrors[own]) < mirrorShare
}

// pagesBeside is how many pages a host has that may be copies of pages of another: all, or those by
// the other scheme.
func (h *Host) pagesBeside(other string, s *Share) int64 {
	switch {
	case !s.Scheme:
		return h.Pages
	case isPlain(other):
		return h.Pages - h.Plain
	}
	return h.Plain
}

func isPlain(url string) bool { return strings.HasPrefix(url, "http:") }

// mirrored postpones the URLs of a mirror, but for samples. A page must not be postponed on both of
// two hosts. So only the host that follows more often is sampled.
func (h *Host) mirrored(url string) Advice {
	other, _ := h.MirrorOf(nil)
	if other == "" || other == originOf(url) || sampled(url, mirrorRate) {
		return Advice{}
	}
	return Advice{Rule: Mirror, Pattern: other}
}
