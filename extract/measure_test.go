package extract_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMeasure checks the functions that count kept words, on a page that is small enough to count
// by hand.
func TestMeasure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	body := `<title>Gauges</title><nav>home news</nav><main>
		<h1>Two gauges<a class=sign href=#>link</a></h1>
		<p>One is in the wat<b>er</b>,<br>one is dry.<p hidden>Not displayed.</p><script>var x</script>
		<table><tr><td>2<td>4</table></main>`
	if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
		t.Fatal(err)
	}
	p := page{by: generator{container: "main", noText: ".sign"}, path: path, name: "page.html"}
	truth, chrome := container(t, p, []byte(body))
	if got, want := bagOf(truth), bagOf(split("Two gauges One is in the water one is dry 2 4")); got.size() != want.size() || got.take(want) != want.size() {
		t.Errorf("the words of the container are %q", truth)
	}
	if len(chrome) != 1 || chrome[0] != "link" {
		t.Errorf("the removed words are %q, want link", chrome)
	}

	// A word that both texts contain several times is counted as often as it is in both.
	for _, test := range []struct {
		text                   string
		kept, outside, chromed int
	}{
		{"", 0, 0, 0},
		{"Two gauges. One is in the water, one is dry. 2 4", 12, 0, 0},
		{"Two gauges link. One is dry. is is", 6, 1, 1},
		{"home news", 0, 2, 0},
	} {
		m := compare(truth, chrome, split(test.text))
		if m.words != 12 || m.kept != test.kept || m.outside != test.outside || m.chrome != test.chromed {
			t.Errorf("%q: %d words, %d kept, %d from outside, %d of removed elements; want 12, %d, %d, %d",
				test.text, m.words, m.kept, m.outside, m.chrome, test.kept, test.outside, test.chromed)
		}
	}

	if got, want := lost(split("a b c d e f g h"), split("a b c x f g h")), ` "d e" (2 words)`; got != want {
		t.Errorf("lost passages are %s, want %s", got, want)
	}
}
