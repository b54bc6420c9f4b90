package extract

import "testing"

// TestPublished checks that the date of publication is found in the less common places.
func TestPublished(t *testing.T) {
	for _, test := range []struct{ name, page, want string }{
		{"meta date", `<meta name=date content="2026-03-04">`, "2026-03-04"},
		{"Dublin Core", `<meta name="DC.date" content="2026-03-05">`, "2026-03-05"},
		{"below the headline", `<h1>News</h1><p>By a writer, <time datetime="2026-03-06">6 March</time></p><p>Text.</p>`, "2026-03-06"},
		{"far below the headline", `<h1>News</h1><p>1</p><p>2</p><p>3</p><p>4</p><p>5</p><time datetime="2026-03-06">6 March</time>`, ""},
	} {
		d, err := Parse([]byte("<!doctype html>"+test.page), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		if d.Published != test.want {
			t.Errorf("%s: %q, want %q", test.name, d.Published, test.want)
		}
	}
}
