package audit

import (
	"net/url"
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

func urlFaults(address string) (names []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	path := u.EscapedPath()
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
