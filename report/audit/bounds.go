package audit

import (
	"fmt"
	"strings"
	"time"
)

// These say from when on a page is named. Each has its reason; a page beyond one is no worse than
// another by itself.
const (
	// Search results show a line of about 600 pixels as the title, which is some 60 characters, and
	// two lines as the description, which is some 160.
	longTitle       = 60
	longDescription = 160
	// Less than two or three words name a site or a kind of page, and no page.
	shortTitle   = 10
	shortHeading = 3
	// Search engines write a description of their own where one is less than half of what they show.
	shortDescription = 70
	// A heading over two lines of a phone is a paragraph.
	longHeading = 100

	// After a second people notice that they wait (J. Nielsen, Usability Engineering, 1993).
	slowAnswer = time.Second
	// A phone with a poor line, 1.6 Mbit a second, needs five seconds for it, before any picture.
	largePage = 1_000_000
	// Crawlers and visitors come last, or never, to what is many links from the start.
	deepPage = 5
)

// limits puts these numbers into the texts of findings.
var limits = strings.NewReplacer(
	"{short title}", fmt.Sprint(shortTitle), "{long title}", fmt.Sprint(longTitle),
	"{short description}", fmt.Sprint(shortDescription), "{long description}", fmt.Sprint(longDescription),
	"{short heading}", fmt.Sprint(shortHeading), "{long heading}", fmt.Sprint(longHeading),
	"{deep page}", fmt.Sprint(deepPage),
)
