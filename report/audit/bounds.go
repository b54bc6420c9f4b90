package audit

import (
	"fmt"
	"strings"
	"time"
)

// The limits beyond which an audit lists a page. A page beyond a limit is not necessarily bad; each
// comment gives the reason for the limit below it. Lengths are in characters.
const (
	// Search results show a line of about 600 pixels as the title, which is some 60 characters, and
	// two lines as the description, which is some 160.
	longTitle       = 60
	longDescription = 160
	// A title or heading of one word, such as "Home", does not tell what the single page is about.
	shortTitle   = 10
	shortHeading = 3
	// Search engines write a description of their own where one is less than half of what they show.
	shortDescription = 70
	// A heading over two lines of a phone is a paragraph.
	longHeading = 100

	// After a second people notice that they wait (J. Nielsen, Usability Engineering, 1993).
	slowAnswer = time.Second
	// A phone with a slow connection of 1.6 Mbit/s needs five seconds to load so many bytes, without
	// any pictures.
	largePage = 1_000_000
	// Crawlers and visitors hardly reach a page to which the shortest way from the start is so many
	// links.
	deepPage = 5
)

// limits replaces placeholders such as "{long title}" in the texts of findings by the limits above.
var limits = strings.NewReplacer(
	"{short title}", fmt.Sprint(shortTitle), "{long title}", fmt.Sprint(longTitle),
	"{short description}", fmt.Sprint(shortDescription), "{long description}", fmt.Sprint(longDescription),
	"{short heading}", fmt.Sprint(shortHeading), "{long heading}", fmt.Sprint(longHeading),
	"{deep page}", fmt.Sprint(deepPage),
)
