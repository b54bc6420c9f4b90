package learn

import "testing"

// Clean removes tracking parameters and session ids with exactly matching names, and changes
// nothing else.
func TestClean(t *testing.T) {
	for url, want := range map[string]string{
		"/a?utm_source=x&b=1&fbclid=2":       "/a?b=1",
		"/a?gclid=1":                         "/a",
		"/a;jsessionid=0A1B?x=1":             "/a?x=1",
		"/a;v=1;JSESSIONID=0A1B/b":           "/a;v=1/b",
		"/(S(lit3py55t21z5v55vlm25s55))/b":   "/b",
		"/(S(x1))/b":                         "/(S(x1))/b",
		"/(S(lit3py55t21z5v55vlm25s559))/b":  "/(S(lit3py55t21z5v55vlm25s559))/b",
		"/a?PHPSESSID=1&&c":                  "/a?&c",
		"/a?CFID=1&CFTOKEN=2":                "/a",
		"/article?cfid=7":                    "/article?cfid=7",
		"/map?utm_band=C&utm_zone=17":        "/map?utm_band=C&utm_zone=17",
		"/a?id=1&sid=2&session=3&utm=4&ref=": "/a?id=1&sid=2&session=3&utm=4&ref=",
		"/a;b=c?d;e":                         "/a;b=c?d;e",
	} {
		if got := Clean(site + url); got != site+want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		if again := Clean(Clean(site + url)); again != Clean(site+url) {
			t.Errorf("%s: cleaned twice it is %s", url, again)
		}
	}
}
