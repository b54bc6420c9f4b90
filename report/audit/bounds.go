package audit

import (
	"fmt"
	"strings"
	"time"
)

// An audit lists pages outside these limits, but such a page is not necessarily bad. The comment
// above each limit explains it. Lengths are in characters.
const (
	// Search results show a title on one line of about 600 pixels, which is about 60 characters.
	// They show a description on two lines, which is about 160 characters.
	longTitle       = 60
	longDescription = 160
	// A title or heading of one short word, such as "Home", does not say what the page is about.
	shortTitle   = 10
	shortHeading = 3
	// If a page's description is less than half as long as the text that search engines show, they
	// often replace it with their own.
	shortDescription = 70
	// A heading that fills more than two lines on a phone is a paragraph.
	longHeading = 100

	// After one second, people notice that they are waiting (J. Nielsen, Usability Engineering,
	// 1993).
	slowAnswer = time.Second
	// In bytes. A phone with a slow connection of 1.6 Mbit/s needs five seconds to load a page of
	// this size, not counting images.
	largePage = 1_000_000
	// In bytes. An image of this size takes half a second on a connection of 1.6 Mbit/s.
	largeImage = 100_000
	// Programs shorten longer URLs for display, and email programs may break them.
	longURL = 115
	// In links. Crawlers and visitors seldom reach a page that is this many links away from the start
	// page.
	deepPage = 5
)

// limits replaces placeholders such as "{long title}" in the text of findings with the limits
// above.
var limits = strings.NewReplacer(
	"{short title}", fmt.Sprint(shortTitle), "{long title}", fmt.Sprint(longTitle),
	"{short description}", fmt.Sprint(shortDescription), "{long description}", fmt.Sprint(longDescription),
	"{short heading}", fmt.Sprint(shortHeading), "{long heading}", fmt.Sprint(longHeading),
	"{deep page}", fmt.Sprint(deepPage), "{long URL}", fmt.Sprint(longURL),
)
