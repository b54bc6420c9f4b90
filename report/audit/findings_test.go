package audit

import (
	"strings"
	"testing"
)

// Each finding must have a text, each text must belong to a finding, and no placeholder for a
// number may be left in a text.
func TestTexts(t *testing.T) {
	known, err := parseTexts(findingsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lists(&Audit{site: newSite(false)}) {
		for _, f := range l.Findings {
			if _, ok := known[f.FullName()]; !ok {
				t.Errorf("findings.txt says nothing of %s", f.FullName())
			}
			delete(known, f.FullName())
			if said := f.Title + f.Means + f.Fix; strings.ContainsAny(said, "{}") {
				t.Errorf("%s: a number is missing in %q", f.FullName(), said)
			}
			if strings.HasSuffix(f.Title, ".") || !strings.HasSuffix(f.Means, ".") || !strings.HasSuffix(f.Fix, ".") {
				t.Errorf("%s: a title ends without a full stop, a sentence with one: %q", f.FullName(), f.Text)
			}
		}
	}
	for name := range known {
		t.Errorf("findings.txt has [%s], and no list has such a finding", name)
	}
}

// An error in the file of texts must be reported with its section.
func TestParseTexts(t *testing.T) {
	const whole = "# a word to the editor\n\n[thin]\nseverity: warning\ntitle: Thin: pages\nmeans: They\n  say little.\nfix: Say more.\n"
	all, err := parseTexts(whole)
	if want := (Text{Weight: Warning, Title: "Thin: pages", Means: "They say little.", Fix: "Say more."}); err != nil || len(all) != 1 || all["thin"] != want {
		t.Errorf("got %+v, %v; want %+v", all, err, want)
	}
	for _, test := range []struct{ replace, with, want string }{
		{"[thin]\n", "", "severity: warning:"},
		{"[thin]", "[thin", "[thin:"},
		{"fix: Say more.", "fix Say more.", "[thin]:"},
		{"fix:", "means:", "[thin]:"},
		{"fix:", "mend:", "[thin]:"},
		{"fix:", "fix: Say more.\nfix:", "[thin]:"},
		{"severity: warning", "severity: bad", "[thin]:"},
		{"fix: Say more.", "", "[thin]:"},
		{"fix: Say more.", "fix: Say more.\nmend: it", "[thin]:"},
		{"[thin]", whole + "\n[thin]", "[thin]:"},
	} {
		if _, err := parseTexts(strings.Replace(whole, test.replace, test.with, 1)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("with %q for %q: got %v, want %s", test.with, test.replace, err, test.want)
		}
	}
}
