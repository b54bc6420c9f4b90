package dedup

import (
	"testing"
)

func TestForms(t *testing.T) {
	for _, c := range []struct{ form, lang, text, want string }{
		{"plain", "en", "The red foxes were running", "the red foxes were running"},
		{"nofunction", "en", "The fox and its cubs ran to the river", "fox cubs ran river"},
		{"nofunction", "ru", "Лиса и её лисята бежали к реке", "лиса лисята бежали реке"},
		{"nofunction", "fr", "L'homme d'une rue", "homme rue"},
		{"nofunction", "xx", "the fox and the river", "the fox and the river"},
	} {
		form, err := ParseForm(c.form)
		if err != nil || form.String() != c.form {
			t.Errorf("%s: %v, %v", c.form, form, err)
		}
		var x Text
		x.Locate()
		x.ReadForm([]byte(c.text), form, c.lang)
		if got := string(x.Bytes()); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.form, c.text, got, c.want)
		}
		var again Text
		again.Read(x.Bytes())
		if form == Plain && again.Hash() != x.Hash() {
			t.Errorf("%q does not read back", x.Bytes())
		}
		for i := range x.Len() {
			if s := x.Span(i); c.text[s.Start:s.End] == "" {
				t.Errorf("%s of %q: token %d has no place", c.form, c.text, i)
			}
		}
	}
	for _, bad := range []string{"", "plain,nofunction", "lemmas"} {
		if _, err := ParseForm(bad); err == nil {
			t.Errorf("form %q is accepted", bad)
		}
	}
}
