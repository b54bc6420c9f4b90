package audit

import (
	"regexp"
	"strings"

	"skink/store"
)

func urls(*Audit) *List {
	l := &List{
		Name: "urls", Of: "pages", aside: notMeant,
		Columns:  brief(linksColumn, urlColumn, column("characters", "Characters", func(_ *subject, r *store.Record) any { return int64(len(r.URL)) })).more(titleColumn),
		Findings: []*Finding{{Name: "spaces"}, {Name: "slashes"}, {Name: "repeated"}, {Name: "upper"}, {Name: "long"}},
	}
	l.see = func(at int32, r *store.Record) {
		if isHTML(r) {
			for _, name := range urlFaults(r.URL) {
				l.found(name, at, nobody)
			}
		}
	}
	return l
}

func isNumber(segment string) bool { return strings.Trim(segment, "0123456789") == "" }

var encoded = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// urlFaults reads URLs as they are stored. Package net/url refuses some of them, such as https://example.com/docs/100%.
func urlFaults(address string) (names []string) {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, path, _ := strings.Cut(rest, "/")
	path = "/" + path
	if strings.Contains(path, "%20") {
		names = append(names, "spaces")
	}
	if strings.Contains(path, "//") {
		names = append(names, "slashes")
	}
	if plain := encoded.ReplaceAllString(path, ""); strings.ToLower(plain) != plain {
		names = append(names, "upper")
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := range segments[1:] {
		if segments[i] == segments[i+1] && segments[i] != "" && !isNumber(segments[i]) { // a date, such as 2026/06/06
			names = append(names, "repeated")
			break
		}
	}
	if len(address) > longURL {
		names = append(names, "long")
	}
	return names
}
