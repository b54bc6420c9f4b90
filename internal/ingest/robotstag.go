package ingest

import "strings"

type tag struct{ noindex, nofollow bool }

// robotsTag reads X-Robots-Tag headers, which no standard describes but all large crawlers read
// alike: directives separated by commas, of which those behind "name:" are for the crawler of that
// name, up to the next name or the end of the field. agent is our own name, in lower case.
func robotsTag(h map[string][]string, agent string) (t tag) {
	for _, value := range h["X-Robots-Tag"] {
		ours := true
		for part := range strings.SplitSeq(strings.ToLower(value), ",") {
			name, rest, named := strings.Cut(part, ":")
			if name = strings.TrimSpace(name); named && isAgent(name) {
				ours, part = name == agent, rest
			}
			if ours {
				t.read(strings.TrimSpace(part))
			}
		}
	}
	return t
}

// isAgent tells the name of a crawler from a directive with a value, and from the hours of a date.
func isAgent(name string) bool {
	switch name {
	case "", "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}

func (t *tag) read(directive string) {
	switch directive {
	case "noindex":
		t.noindex = true
	case "nofollow":
		t.nofollow = true
	case "none":
		*t = tag{true, true}
	}
}
