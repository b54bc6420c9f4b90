package dedup

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"skink/base/splitmix"
)

// tokens returns the tokens of s, separated by bars.
func tokens(s string) string {
	var t Text
	t.Read([]byte(s))
	all := make([]string, t.Len())
	for i := range all {
		all[i] = t.Token(i)
	}
	return strings.Join(all, "|")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"case and punctuation", "Hello, World! (again)", "hello|world|again"},
		{"nothing", " \t\n .,;!?-— ", ""},
		{"apostrophe", "Don't, don’t, DON‘T", "don't|don't|don't"},
		{"an apostrophe at an end is a quotation mark", "'tis dogs' ’tis", "tis|dogs|tis"},
		{"numbers", "3.14 and 1,000,000 or 12:30", "3|14|and|1|000|000|or|12|30"},
		{"a dot divides", "www.example.com. End.Next", "www|example|com|end|next"},
		{"a hyphen divides", "near-duplicate", "near|duplicate"},
		{"an underscore divides", "snake_case_ _x", "snake|case|x"},
		{"a colon divides", "std::vector a:b", "std|vector|a|b"},
		{"an apostrophe between digits joins", "1'000 1'a a'1", "1'000|1|a|a|1"},
		{"Latin beyond ASCII", "ÉCOLE naïve Straße Łódź", "école|naïve|straße|łódź"},
		{"Cyrillic", "Ёлка «Москва» 2-й", "ёлка|москва|2|й"},
		{"Greek", "ΑΘΗΝΑ Ἀθῆναι", "αθηνα|ἀθῆναι"},
		{"decomposed is composed", "e\u0301cole", "école"},
		{"compatibility forms", "ﬁne ＡＢＣ １２ ²", "fine|abc|12|2"},
		{"soft hyphen, zero width, byte order mark", "in\u00ADvi\u200Bsi\u200Dble \uFEFFword", "invi|sible|word"},
		{"Han", "我们去 Beijing 吧。", "我|们|去|beijing|吧"},
		{"Kana", "ひらがなとカタカナー", "ひ|ら|が|な|と|カ|タ|カ|ナ|ー"},
		{"half-width Kana with its mark", "ｶﾞ", "ガ"},
		{"Thai, marks with their letter", "ที่นี่", "ที่|นี่"},
		{"Hangul", "한국어 text", "한|국|어|text"},
		{"Arabic, words", "اللغة العربية", "اللغة|العربية"},
		{"Hebrew with a quotation mark inside", `צה"ל`, `צה|ל`},
		{"emoji are no words", "ok 👍🏽 🇩🇪 fine", "ok|fine"},
		{"invalid UTF-8", "a\xffb \xc3 c", "a|b|c"},
	} {
		if got := tokens(c.in); got != c.want {
			t.Errorf("%s: %q\n got %s\nwant %s", c.why, c.in, got, c.want)
		}
	}
}

func TestTextReuse(t *testing.T) {
	var a, b Text
	a.Read([]byte("something else, and longer than what follows"))
	a.Read([]byte("The end."))
	b.Read([]byte("the END"))
	if a.Hash() != b.Hash() || string(a.Bytes()) != "the end" {
		t.Errorf("after reuse: %q %v, fresh: %q %v", a.Bytes(), a.Hash(), b.Bytes(), b.Hash())
	}
	// This is the beginning of the SHA-256 of "the end", as sha256sum prints it.
	if got, want := a.Hash().String(), "92eb9cd081f0ec170823692b9af05567"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// readByRules does the same as Read, but with the full rules only. The tests compare the faster
// code with it.
func readByRules(t *Text, text []byte) {
	t.canon, t.ends, t.tokens = t.canon[:0], t.ends[:0], t.tokens[:0]
	for i := 0; i < len(text); {
		i += t.segment(text[i:])
	}
}

func samePlain(t interface{ Fatalf(string, ...any) }, text []byte) {
	var fast, slow Text
	fast.Read(text)
	readByRules(&slow, text)
	if string(fast.Bytes()) != string(slow.Bytes()) || !slices.Equal(fast.ends, slow.ends) {
		t.Fatalf("%q\nby table %q\nby rules %q", text, fast.Bytes(), slow.Bytes())
	}
	for i, got := range fast.tokens {
		if want := numberOf(fast.Token(i)); got != want {
			t.Fatalf("%q: token %d is %x, want %x", text, i, got, want)
		}
	}
}

// numberOf computes the hash of a token by its definition.
func numberOf(token string) uint64 {
	if len(token) > 8 {
		return xxh3.HashString(token)
	}
	var number uint64
	for i := range len(token) {
		number |= uint64(token[i]) << (8 * i)
	}
	return splitmix.Mix(number)
}

func TestPlainWordIsUAX29(t *testing.T) {
	alphabet := []rune("abZ019 _.':,;-\n\u00a0éÀßİıſŉǆΑςσάЯёіҐ҃’‘ʼ«»—…、。，·\u0301\u00ad\u200b\u200d\u2060字かカ한ที\u05d0\"/@🇩👍ﬁ½ª²")
	rapid.Check(t, func(r *rapid.T) {
		samePlain(r, []byte(string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(r, "text"))))
	})
}

// TestASCIIWordsAreUAX29 tests long texts of ASCII words, some of which need the full rules.
func TestASCIIWordsAreUAX29(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9]{1,20}`)
		gap := rapid.SampledFrom([]string{" ", " ", " ", ", ", "\n\n", "-", "_", "\x00", "\x7f", "'", "’", "é", "\xff"})
		var text []byte
		text = append(text, gap.Draw(r, "before")...)
		for range rapid.IntRange(0, 40).Draw(r, "words") {
			text = append(append(text, word.Draw(r, "word")...), gap.Draw(r, "gap")...)
		}
		samePlain(r, append(text, strings.Repeat("x", rapid.IntRange(0, 100).Draw(r, "last"))...))
	})
}

func TestPlainWordEveryRune(t *testing.T) {
	for r := rune(0); r < 0x3100; r++ {
		for _, pattern := range []string{"a%b", "1%2", "é%я", "%", "a%", "%a", "a_%b", "a.%b", "a’%"} {
			samePlain(t, []byte(strings.ReplaceAll(pattern, "%", string(r))))
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"Don’t stop", "a_1.b:c", "Ёлка\xff字", "\u0301a\u200d", strings.Repeat("It is sixty-four bytes, and a word across its end. ", 3)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samePlain(t, text)
		var x Text
		x.Read(text)
		if !utf8.Valid(x.Bytes()) {
			t.Fatalf("%q: not UTF-8: %q", text, x.Bytes())
		}
	})
}
