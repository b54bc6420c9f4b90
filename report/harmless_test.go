package report

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain, ünïcödé, 猫 👩‍🚀":  "plain, ünïcödé, 猫 👩‍🚀",
		"\x1b[2J":                `\x1b[2J`,
		"a\nb\tc\x00":            `a\nb\tc\x00`,
		"\u009b31m":              `\u009b31m`, // the one-character form of ESC [
		"\u202eexe.txt":          `\u202eexe.txt`,
		"caf\xe9":                `caf\xe9`,
		"\u2028\ufeff\u00a0":     `\u2028\ufeff\u00a0`,
		"it's":                   "it's",
		"می\u200cخواهم":          "می\u200cخواهم", // the joiner belongs to the word
		"\U000e0041 tag, \ue000": `\U000e0041 tag, \ue000`,
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("\x1b]0;\a\u009b\xff\u2066")
	f.Fuzz(func(t *testing.T, s string) {
		got := visible(s)
		if !utf8.ValidString(got) {
			t.Errorf("visible(%q) = %q is not UTF-8", s, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("visible(%q) = %q lets %U through", s, got, r)
			}
		}
	})
}

func TestCell(t *testing.T) {
	for in, want := range map[string]string{
		"":           "",
		"a=1":        "a=1",
		"=1+1":       "'=1+1",
		"+1":         "'+1",
		"-1":         "'-1",
		"@SUM(A1)":   "'@SUM(A1)",
		"\t=1":       "' =1",
		"\r=1":       "' =1",
		"two\nlines": "two lines",
		"\x1b[0m":    " [0m",
		"caf\xe9":    "caf\uFFFD",
	} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{{"", 3, ""}, {"猫猫猫", 3, "猫猫猫"}, {"猫猫猫猫", 3, "猫猫…"}, {"ab", 3, "ab"}} {
		if got := clip(test.in, test.n); got != test.want {
			t.Errorf("clip(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := group(n); got != want {
			t.Errorf("group(%d) = %q, want %q", n, got, want)
		}
	}
	// 1.000 would promise the same text.
	for x, want := range map[float64]string{0: "0.000", 0.8: "0.800", 0.9996: "0.999", 1: "1.000"} {
		if got := resemblance(x); got != want {
			t.Errorf("resemblance(%v) = %q, want %q", x, got, want)
		}
	}
}
