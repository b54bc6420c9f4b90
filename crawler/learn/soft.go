package learn

import (
	"slices"
	"strings"
)

// # Soft 404
//
// Some hosts answer requests for nonexistent URLs with status 200 and a page about the error, or
// with their home page or a login form. Such a response is a soft 404. The crawl detects soft 404s
// with a probe: it requests a URL that cannot exist, and compares the response with the pages of
// the host. (The term and the idea are from Bar-Yossef, Broder, Kumar and Tomkins, "Sic transit
// gloria telae", WWW 2004.)
//
// Different programs on one host respond differently. So each pattern, a path shape with the names
// of its parameters, has its own evidence, probe and response. A pattern is probed at most once,
// and only for one of these reasons:
//
//   - several of its pages are copies of one leader;
//   - manyThin of its pages are too short to be compared;
//   - several of its pages share a title that several others do not have;
//   - a revisited page has become a copy, too short, or completely different;
//   - in a crawl with an audit, a folder of names has more than fewOthers pages that are not copies.
//
// A false alarm costs one request. The response counts as a soft 404 only if several pages of the
// pattern have the same text. A single page may be a real page that the server shows for unknown
// URLs too, such as the last page of a list. The URLs of the pages must also differ in each part
// that may identify the text; see [ProbeOf]. Package ingest compares the text of pages.
//
// In an audit, one page is enough in a folder of names if fewOthers pages have other titles. Its text
// must not be that of a page outside the folder, such as the home page. Half of the probes are for folders.
//
// The evidence depends only on the records of the pages, in commit order, and is stored with the
// host. So a restarted crawl decides as the interrupted one would have.
//
// Known weaknesses: An unknown value of a parameter may select a default view or, in a list, the
// last page. If several such URLs are linked, and the response does not name its canonical URL,
// this view counts as an error too. If a site shows the same page to every visitor without scripts,
// all its pages count as soft 404s.
const (
	several  = 4 // how many pages with the same text, leader or title count as evidence
	manyThin = 8 // how many pages too short to be compared count as evidence

	fewOthers = 3 // how many pages of a folder must have other titles than a single soft 404

	maxSofts  = 128      // maximum number of a host's patterns with evidence
	maxProbes = 32       // maximum number of probes of a host
	maxOthers = 6        // maximum number of pages with other titles to compare with the response
	maxAnswer = 32 << 10 // maximum length in bytes of the text of a soft 404
)

// SoftProblem is the name of a soft 404 in records, reports and archives. It is stored, so it must
// not change.
const SoftProblem = "soft 404"

// A Soft is the evidence about how a host responds to URLs of one pattern that cannot exist.
type Soft struct {
	Probe  string   `json:"probe,omitempty"`  // URL that cannot exist, for the crawler to request; "" if there is no reason to request one
	From   string   `json:"from,omitempty"`   // the URL from which Probe was derived
	Status int      `json:"status,omitempty"` // HTTP status of the response; 0 if there is no response yet
	Title  string   `json:"title,omitempty"`  // title of the response
	Words  uint64   `json:"words,omitempty"`  // hash of the words of the title; see [Verdict]
	Text   string   `json:"text,omitempty"`   // main text of a response with status 200; "" for all other responses
	Real   string   `json:"real,omitempty"`   // the canonical URL that the response declares
	Holds  bool     `json:"holds,omitempty"`  // several pages have the same text as the response, so every page with this text is a soft 404
	Pages  int64    `json:"pages,omitempty"`  // number of pages recorded as soft 404s
	Audit  bool     `json:"audit,omitempty"`  // an audit crawled this folder of names, so one page with the response's text may be enough for Holds
	Turned []string `json:"turned,omitempty"` // pages that became copies, too short, or completely different
	Others []string `json:"others,omitempty"` // pages with titles that differ from that of the response

	Said []string `json:"said,omitempty"` // pages with the same text as the response; empty once Holds is set

	// These fields are the evidence. They are empty once Holds is set.
	Alike  groups   `json:"alike,omitempty"`  // leaders with their copies
	Thin   []string `json:"thin,omitempty"`   // pages too short to be compared
	Titles groups   `json:"titles,omitempty"` // titles of the pages that are not copies
}

// Says reports whether the response to the probe is a page with text.
func (s *Soft) Says() bool { return s != nil && s.Text != "" }

// HoldsFor reports whether a page with the same text as the response is a soft 404. If the page had
// different text at an earlier visit, it is a soft 404 even if no other page has this text.
func (s *Soft) HoldsFor(url string) bool { return s.Holds || slices.Contains(s.Turned, url) }

// SamePattern reports whether two URLs have the same host and pattern, so one probe serves both.
func SamePattern(a, b string) bool { return hostOf(a) == hostOf(b) && Shape(a) == Shape(b) }

// answer returns the evidence about the pattern of a URL. It returns nil if the pattern has not
// been probed, or if the response to the probe has no text.
func (h *Host) answer(url string) *Soft {
	if s := h.Softs[Shape(url)]; s.Says() {
		return s
	}
	return nil
}

// softOf returns the evidence about a pattern, and creates it if there is none. It returns nil if
// the host already has maxSofts patterns with evidence.
func (h *Host) softOf(pattern string) *Soft {
	s := h.Softs[pattern]
	if s == nil && len(h.Softs) < maxSofts {
		if h.Softs == nil {
			h.Softs = map[string]*Soft{}
		}
		s = &Soft{}
		h.Softs[pattern] = s
	}
	return s
}

func (h *Host) doubt(a *address, v *Verdict) {
	url, s := a.url, h.softOf(a.pattern())
	if s == nil || s.errs() {
		return
	}
	if s.Says() && v.Leader == "" && v.title() != s.Words && len(s.Others) < maxOthers && !slices.Contains(s.Others, url) {
		s.Others = append(s.Others, url)
	}
	if v.Changed && (v.Leader != "" || v.Thin) {
		s.Turned = addTo(s.Turned, url, s.most())
	}
	if !s.Holds {
		h.suspect(s, s.remember(url, v))
		if s.Audit = s.Audit || v.Audit && a.isName(); s.Audit && s.Probe == "" && h.Probes < maxProbes/2 {
			if n := len(s.titled(func(string) bool { return true })); n > fewOthers && n < maxGroups {
				h.suspect(s, []string{url})
			}
		}
	}
}

// isName reports whether an address has no parameters and its last segment is neither a number nor a hash.
func (a *address) isName() bool {
	return a.names == "" && strings.HasPrefix(a.shape[lastSegment(a.shape):], "{word}")
}

// errs reports whether the response is a real error, or is too long. In either case the pattern has
// no soft 404s.
func (s *Soft) errs() bool { return s.Status != 0 && !s.Says() }

// suspect chooses the URL of a pattern's probe, unless it already has one. The argument suspects
// contains the URLs of the pages that prompted the probe. If it is empty, suspect does nothing.
func (h *Host) suspect(s *Soft, suspects []string) {
	if s.Probe != "" || len(suspects) == 0 || h.Probes >= maxProbes {
		return
	}
	if s.Probe = ProbeOf(suspects, s.except(suspects)); s.Probe != "" {
		s.From = suspects[0]
		h.Probes++
		h.Pending = append(h.Pending, Shape(suspects[0]))
	}
}

// remember adds a page to the evidence. If the pattern should now be probed, remember returns the
// pages that prompted this.
func (s *Soft) remember(url string, v *Verdict) (suspects []string) {
	if v.Leader != "" {
		if isDefault(v.Leader, url) {
			return nil
		}
		if urls := s.Alike.add(v.Leader, url, s.most()); len(urls) >= several {
			return urls
		}
	} else {
		title := nameOf(v.title())
		urls := s.Titles.add(title, url, s.most())
		if v.Thin {
			s.Thin = addTo(s.Thin, url, s.most())
		}
		if v.Thin && len(s.Thin) >= manyThin {
			return s.Thin
		}
		if len(urls) >= several && len(s.titled(func(other string) bool { return other != title })) >= several {
			return urls
		}
	}
	if slices.Contains(s.Turned, url) {
		return []string{url}
	}
	return nil
}

// most returns how many pages with one text, leader or title are remembered. A crawl that was killed asks for the probe
// again when it fetches the page from which the probe was made, and it may judge many other pages before.
func (s *Soft) most() int {
	if s.Probe != "" && s.Status == 0 {
		return maxWaiting
	}
	return maxMembers
}

// titled returns the pages whose titles satisfy wanted. The first pages of all titles come before any
// second page.
func (s *Soft) titled(wanted func(title string) bool) (urls []string) {
	for i := range maxWaiting {
		for _, t := range s.Titles {
			if i < len(t.Of) && wanted(t.Text) {
				urls = append(urls, t.Of[i])
			}
		}
	}
	return urls
}

// suspects returns all pages in the evidence that may have the same text as the response.
func (s *Soft) suspects() (urls []string) {
	for _, g := range s.Alike {
		urls = append(append(urls, g.Text), g.Of...)
	}
	urls = slices.Concat(urls, s.Thin, s.titled(func(title string) bool { return title == nameOf(s.Words) }), s.Turned)
	slices.Sort(urls)
	return slices.Compact(urls)
}

// except returns the pages in the evidence, excluding the pages in others, their leaders, and all
// other copies of those leaders.
func (s *Soft) except(others []string) (urls []string) {
	hidden := slices.Clone(others)
	for _, g := range s.Alike {
		if slices.ContainsFunc(g.Of, func(url string) bool { return slices.Contains(others, url) }) {
			hidden = append(append(hidden, g.Text), g.Of...)
		}
		urls = append(urls, g.Of...)
	}
	urls = slices.Concat(urls, s.titled(func(string) bool { return true }), s.Others)
	return slices.DeleteFunc(urls, func(url string) bool { return slices.Contains(hidden, url) })
}

// pending returns the evidence about the pattern whose probe is this URL. It returns nil if there
// is no such probe, or if the probe has already been answered.
func (h *Host) pending(probe string) *Soft {
	for _, pattern := range h.Pending {
		if s := h.Softs[pattern]; s.Probe == probe {
			return s
		}
	}
	return nil
}

// answered records the response to a pattern's probe and returns the evidence about the pattern. It
// returns nil if no pattern is waiting for this response.
func (h *Host) answered(answer Soft) *Soft {
	s := h.pending(answer.Probe)
	if s == nil {
		return nil
	}
	if len(answer.Text) > maxAnswer {
		answer.Text = ""
	}
	if s.Status = answer.Status; !answer.Says() {
		h.examined(s.Probe)
		*s = Soft{Probe: s.Probe, From: s.From, Status: s.Status}
		return s
	}
	s.Title, s.Words, s.Text, s.Real = answer.Title, answer.Words, answer.Text, answer.Real
	others := s.titled(func(title string) bool { return title != nameOf(s.Words) })
	s.Others = others[:min(len(others), maxOthers)]
	return s
}

func (h *Host) examined(probe string) {
	h.Pending = slices.DeleteFunc(h.Pending, func(pattern string) bool { return h.Softs[pattern].Probe == probe })
}

// isEnough reports whether the pages with the text of the response are soft 404s although they are few.
func (s *Soft) isEnough(said []string) bool {
	others := s.titled(func(title string) bool { return title != nameOf(s.Words) })
	return s.Audit && len(said) > 0 && len(others) >= fewOthers && !slices.ContainsFunc(s.Alike, func(g oneText) bool {
		return !SamePattern(g.Text, said[0]) && slices.ContainsFunc(said, func(url string) bool { return slices.Contains(g.Of, url) })
	})
}

// hold records pages with the same text as the response, and returns those that are soft 404s. It
// sets Holds when there are enough such pages.
func (s *Soft) hold(said []string) (counts []string) {
	if s.Holds {
		return said
	}
	all := s.Said
	for _, url := range said {
		all = addTo(all, url, len(all)+1)
	}
	if (len(all) >= several || s.isEnough(all)) && !tied(all, s.except(all)) {
		s.Holds = true
		s.Said, s.Alike, s.Thin, s.Titles = nil, nil, nil, nil
		return all
	}
	s.Said = all[:min(len(all), maxWaiting)]
	return slices.DeleteFunc(slices.Clone(said), func(url string) bool { return !s.HoldsFor(url) })
}
