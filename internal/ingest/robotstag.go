package ingest

import (
	"strings"

	"skink/extract"
)

// robotsTag parses X-Robots-Tag headers. No standard describes them, but all large crawlers agree.
// Directives are separated by commas. Directives after "name:" are for the crawler of that name, up
// to the next name or the end of the field. The argument agent is this crawler's name in lower
// case.
func robotsTag(h map[string][]string, agent string) extract.Ask {
	var directives []string // for this crawler
	for _, value := range h["X-Robots-Tag"] {
		ours := true
		for part := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, rest, named := strings.Cut(part, ":")
			if name = strings.TrimSpace(name); named && isAgent(name) {
				ours, part = name == agent, rest
			}
			if ours {
				directives = append(directives, part)
			}
		}
	}
	return extract.AskOf(strings.Join(directives, ","))
}

// isAgent reports whether the text before a colon is the name of a crawler. Otherwise it is a
// directive with a value, or the hour in a time such as 15:00.
func isAgent(name string) bool {
	switch name {
	case "", "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}
