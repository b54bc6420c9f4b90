package markup

import (
	"slices"
	"strings"
)

// sharing collects the data that other sites show with a link to the page: Open Graph data
// (https://ogp.me) and the cards of X, formerly Twitter.
type sharing struct {
	open     bool    // whether the page has Open Graph data
	found    [4]bool // whether the page has each property in ogRequired
	relative string  // name and value of a property whose address is not absolute; "" if there is none
	card     string
}

// ogRequired lists the properties that the Open Graph protocol requires of every page.
var ogRequired = [4]string{"og:title", "og:type", "og:image", "og:url"}

var cards = []string{"summary", "summary_large_image", "app", "player"}

func (s *sharing) read(name, content string) {
	if name == "twitter:card" {
		s.card = content
		return
	}
	if !strings.HasPrefix(name, "og:") || content == "" {
		return
	}
	if name == "og:image:url" || name == "og:image:secure_url" {
		name = "og:image"
	}
	for i, required := range ogRequired {
		if name == required {
			s.open, s.found[i] = true, true
		}
	}
	if (name == "og:image" || name == "og:url") && !strings.HasPrefix(content, "http://") && !strings.HasPrefix(content, "https://") {
		s.relative = name + " " + content
	}
}

func (s *sharing) conclude(r *reader) {
	if s.open && s.found != [4]bool{true, true, true, true} {
		var missing []string
		for i, found := range s.found {
			if !found {
				missing = append(missing, ogRequired[i])
			}
		}
		r.found(SharingIncomplete, strings.Join(missing, ", "))
	}
	if s.relative != "" {
		r.found(SharingRelative, s.relative)
	}
	if s.card != "" && !slices.Contains(cards, strings.ToLower(s.card)) {
		r.found(SharingCard, s.card)
	}
}
