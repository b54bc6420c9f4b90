package learn

// # Mirrors
//
// A host is a mirror of another if its pages are copies of pages there, path by path. The
// share counts all its pages, so that a host which only quotes another is none.
const (
	leastMirrored = 20  // pages
	mirrorShare   = 0.9 // of the host's pages
	mirrorStride  = 16  // from a sample to the next
	mostMirrors   = 64  // other hosts that are remembered
)

// A Share is what another host has of a host's pages.
type Share struct {
	Same    int64  `json:"same"`    // pages that are copies of its page under the same path
	Example string `json:"example"` // one of them
}

// mirrored says whether a page's leader is on another host, or under another scheme, and has
// the same path.
func mirrored(url, leader string) bool {
	return leader != "" && url != leader && pathOf(url) == pathOf(leader)
}

// judgeMirror counts a page that is mirrored.
func (h *Host) judgeMirror(url string, v *Verdict) {
	other := originOf(v.Leader)
	s := h.Mirrors[other]
	if s == nil {
		if len(h.Mirrors) >= mostMirrors {
			return
		}
		if h.Mirrors == nil {
			h.Mirrors = map[string]*Share{}
		}
		s = &Share{Example: url}
		h.Mirrors[other] = s
	}
	s.Same++
}

// MirrorOf is the host that has most of this host's pages, with its share of them; "" if
// there is none that has nearly all.
func (h *Host) MirrorOf() (other string, share float64) {
	for name, s := range h.Mirrors {
		if of := float64(s.Same) / float64(max(h.Pages, 1)); s.Same >= leastMirrored && of >= mirrorShare && of > share {
			other, share = name, of
		}
	}
	return other, share
}
