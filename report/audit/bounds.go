package audit

import (
	"fmt"
	"strings"
	"time"
)

// The limits beyond which an audit lists a page. A page beyond a limit is not necessarily bad; each
// comment gives the reason for the limit below it. Lengths are in characters.
const (
	// In characters. Search results show a title on one line of about 600 pixels, which is some 60
	// characters. They show a description on two lines, which is some 160 characters.
	longTitle       = 60
	longDescription = 160
	// A title or heading of one word, such as "Home", does not tell what the single page is about.
	shortTitle   = 10
	shortHeading = 3
	// In characters. Search engines write their own description if the page's is less than half as
	// long as what they show.
	shortDescription = 70
	// In characters. A heading that fills more than two lines on a phone is a paragraph.
	longHeading = 100

	// After one second, people notice that they wait (J. Nielsen, Usability Engineering, 1993).
	slowAnswer = time.Second
	// A phone with a slow connection of 1.6 Mbit/s needs five seconds to load so many bytes, without
	// any pictures.
	largePage = 1_000_000
	// A picture of this many bytes takes half a second on such a connection.
	largeImage = 100_000
	// In characters. Longer URLs are cut where people see them, and break in messages.
	longURL = 115
	// Crawlers and visitors hardly reach a page to which the shortest way from the start is so many
	// links.
	deepPage = 5
)

// limits replaces placeholders such as "{long title}" in the texts of findings by the limits above.
var limits = strings.NewReplacer(
	"{short title}", fmt.Sprint(shortTitle), "{long title}", fmt.Sprint(longTitle),
	"{short description}", fmt.Sprint(shortDescription), "{long description}", fmt.Sprint(longDescription),
	"{short heading}", fmt.Sprint(shortHeading), "{long heading}", fmt.Sprint(longHeading),
	"{deep page}", fmt.Sprint(deepPage), "{long URL}", fmt.Sprint(longURL),
)
