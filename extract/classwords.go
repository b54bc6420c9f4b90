package extract

import "strings"

// # Words in class names
//
// Class names and ids are made of words, and most sites use the same ones: "sidebar", "share",
// "comments". This file lists the words that mark boilerplate. They were collected for this project
// from the templates of common content management systems, frameworks and forums. A word is only a
// hint: prune and clearSections decide whether an element is dropped.

var classLists = []struct {
	mark  mark
	words string
}{
	// These words cancel the other marks of a name: "has-sidebar" is the element beside a sidebar, and
	// "search-results" is not a search form. The page builders Elementor and HubSpot (hs) call every
	// element a widget.
	{0, "has no with without not is layout enabled results result elementor hs textwidget"},

	{markNever, "copyright"},
	// These are prefixes used by cookie consent products, such as OneTrust and Cookiebot.
	{markNever, "onetrust optanon cookiebot cybot cookieyes cky cmplz didomi truste usercentrics iubenda borlabs"},

	{markNav, "nav navbar navigation menu submenu megamenu subnav sidenav breadcrumb breadcrumbs crumbs"},
	// Doxygen calls a tooltip "ttc", and writes one for each target of a link.
	{markNav, "footer masthead topbar pagination pager paging ttc"},

	{markSidebar, "sidebar bar widget widgets"},
	{markClass, "dropdown flyout drawer offcanvas toolbar search filters facets currency print skip btn button buttons tooltip popover"},
	{markClass, "modal popup overlay lightbox cookie cookies consent gdpr login signup newsletter subscribe subscription"},
	{markClass, "share sharing sharethis sharedaddy addthis addtoany social likes feedback"},
	{markClass | markRelated, "related similar recommended recommendations recirc recent latest popular trending taboola outbrain"},
	{markClass, "carousel"},
	{markClass, "ad ads advert advertisement advertising adsbygoogle sponsor sponsored sponsors disclosure disclaimer disclaimers announcement announcements"},
	{markByline, "byline author meta metadata"},
	{markCall, "form forms banner banners cta compare comparison"},
	{markSignature, "signature"},
	{markClass, "bio vcard authorbox saboxplugin tags tagcloud caption attribution validation"},

	{markPanel, "accordion accordions faq faqs tab tabs tabpanel collapse collapsible expandable toggle"},
	{markComments, "comment comments commentlist respond disqus"},
	{markReviews, "review reviews testimonials questions answers ugc"},
	{markUser, "pairs user userinfo poster postprofile profile avatar reputation badge badges rank votes vote voting stats extras pane notice notices"},
	{markSpeech, "content body text"}, // for names such as "user-content"
}

var classWords = func() map[string]mark {
	all := map[string]mark{}
	for _, list := range classLists {
		for word := range strings.FieldsSeq(list.words) {
			all[word] = list.mark
		}
	}
	return all
}()

// classShapes maps a first and a last letter to sets of bits, one for each length of the words in
// classWords that begin or end with it. Testing two bits excludes most other words faster than
// looking them up in classWords.
var classShapes = func() (shapes ['z' + 1]struct{ first, last uint32 }) {
	for word := range classWords {
		shapes[word[0]].first |= 1 << len(word)
		shapes[word[len(word)-1]].last |= 1 << len(word)
	}
	return shapes
}()

// classMark returns the marks of a class or id attribute. It splits each name into words:
// "site-footer" and "siteFooter" become "site" and "footer". Only whole words match, so "thread"
// does not match "ad". Words that follow a digit do not match, because names such as "e1e566ad" are
// generated.
func classMark(value string) mark {
	var m mark
	for start := 0; start < len(value); {
		end := start
		for end < len(value) && value[end] > ' ' {
			end++
		}
		if end-start >= shortestWord {
			m |= nameMark(value[start:end])
		}
		start = end + 1
	}
	return m
}

// shortestWord is the length of the shortest words, "ad" and "no".
const shortestWord = 2

func nameMark(name string) mark {
	var m mark
	var buf [16]byte
	n, digits := 0, 0
	for i := 0; i <= len(name); i++ {
		c := byte('-')
		if i < len(name) {
			c = name[i]
		}
		switch {
		case '0' <= c && c <= '9':
			digits++
			continue
		case 'A' <= c && c <= 'Z' && (i == 0 || name[i-1] < 'a' || 'z' < name[i-1]),
			'a' <= c && c <= 'z':
			if digits > 0 {
				n = len(buf) + 1
			}
			if n < len(buf) {
				buf[n] = c | 0x20
			}
			n++
			continue
		}
		if 2 <= n && n <= len(buf) && classShapes[buf[0]].first&classShapes[buf[n-1]].last&(1<<n) != 0 {
			w, ok := classWords[string(buf[:n])]
			switch {
			case ok && w == 0:
				return m & markNever
			case ok:
				m |= w
			}
		}
		n, digits = 0, 0
		if 'A' <= c && c <= 'Z' {
			buf[0], n = c|0x20, 1
		}
	}
	if m&markPanel != 0 {
		m &= markPanel | markNever // in a name such as "accordion-item__dropdown", the other words only describe parts of the panel
	}
	if m&markSpeech != 0 {
		m &^= markSpeech | markUser
	}
	return m
}
