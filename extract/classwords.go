package extract

import "strings"

// # Words in class names
//
// Class names and ids are written for style sheets and scripts. But they are made of words, and of
// the same words on most sites. Here are those that say what is not the text, as the templates of
// the common content systems, frameworks and forums use them. They were gathered by reading such
// pages. They are hints: see prune and clearSections.

// classLists are the words by what they make of a box.
var classLists = []struct {
	mark  mark
	words string
}{
	// These take back what a name says: "has-sidebar" is beside a sidebar, "search-results" no
	// search form; and some systems call every box a widget.
	{0, "has no with without not is layout enabled results result elementor hs textwidget"},

	{markNever, "copyright"},
	// Consent managers by their own prefix: OneTrust, Cookiebot, CookieYes, Complianz, Didomi,
	// TrustArc, Usercentrics, Iubenda, Borlabs.
	{markNever, "onetrust optanon cookiebot cybot cookieyes cky cmplz didomi truste usercentrics iubenda borlabs"},

	{markNav, "nav navbar navigation menu submenu megamenu subnav sidenav breadcrumb breadcrumbs crumbs"},
	{markNav, "footer masthead topbar pagination pager paging"},

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
	{markClass, "bio vcard authorbox saboxplugin tags tagcloud caption attribution validation linenos lineno"},

	{markPanel, "accordion accordions faq faqs tab tabs tabpanel collapse collapsible expandable toggle"},
	{markComments, "comment comments commentlist respond disqus"},
	{markReviews, "review reviews testimonials questions answers ugc"},
	{markUser, "pairs user userinfo poster postprofile profile avatar reputation badge badges rank votes vote voting stats extras pane notice notices"},
	{markSpeech, "content body text"}, // "user-content"
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

// classShapes has, for each first letter, a bit for each length of the words that begin with it.
// Most words of most names are none of ours, and this tells so for less than looking them up.
var classShapes = func() (shapes ['z' + 1]uint32) {
	for word := range classWords {
		shapes[word[0]] |= 1 << len(word)
	}
	return shapes
}()

// classMark reads the words of a class or id, name by name: "site-footer" and "siteFooter" are site
// and footer. Words are compared whole, so that "shared" is not "share" and "thread" no "ad", and a
// word with digits in it is none: "e1e566ad" was made by a program.
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

// shortestWord of the lists above: "ad", "no".
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
		if 2 <= n && n <= len(buf) && classShapes[buf[0]]&(1<<n) != 0 {
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
		m &= markPanel | markNever // "accordion-item__dropdown"
	}
	if m&markSpeech != 0 {
		m &^= markSpeech | markUser
	}
	return m
}
