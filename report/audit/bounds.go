package audit

import (
	"fmt"
	"strings"
	"time"
)

// A page beyond one of these bounds is listed in a finding. Each bound has a reason, written above
// it. A page slightly beyond a bound is hardly worse than one within it.
const (
	// In characters. Search results show a title on one line of about 600 pixels, which is some 60
	// characters. They show a description on two lines, which is some 160 characters.
	longTitle       = 60
	longDescription = 160
	// In characters. One or two words name the site or the kind of page, but not the page.
	shortTitle   = 10
	shortHeading = 3
	// In characters. Search engines write their own description if the page's is less than half as
	// long as what they show.
	shortDescription = 70
	// In characters. A heading that fills more than two lines on a phone is a paragraph.
	longHeading = 100

	// After one second, people notice that they wait (J. Nielsen, Usability Engineering, 1993).
	slowAnswer = time.Second
	// In bytes. A phone with a poor connection of 1.6 Mbit/s needs five seconds to load that much,
	// without pictures.
	largePage = 1_000_000
	// In links from the start of the crawl. Crawlers and visitors reach pages that deep last, or
	// never.
	deepPage = 5
)

// limits replaces names in braces in the texts of findings, such as {long title}, with these
// bounds.
var limits = strings.NewReplacer(
	"{short title}", fmt.Sprint(shortTitle), "{long title}", fmt.Sprint(longTitle),
	"{short description}", fmt.Sprint(shortDescription), "{long description}", fmt.Sprint(longDescription),
	"{short heading}", fmt.Sprint(shortHeading), "{long heading}", fmt.Sprint(longHeading),
	"{deep page}", fmt.Sprint(deepPage),
)
