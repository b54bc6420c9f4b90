package dedup

import (
	"hash/crc32"
	"slices"
	"strings"
)

// # Published systems
//
// Each profile computes the result of one published system, in that system's own way and with its
// oddities. Profiles reproduce the figures of papers and old sites, to compare them with those of
// this package. Crawls do not use profiles.

// A Profile is the name of a published system.
type Profile string

// The published systems.
const (
	ZelenkovSegalovich Profile = "zelenkov-segalovich" // Zelenkov and Segalovich, 2007
	Elementary         Profile = "elementary"          // the algorithm that Russian tutorials teach
	KShingles          Profile = "k-shingles"          // Jaccard's coefficient of sets of shingles
)

// A ProfileInput holds the data that some profiles need in addition to the texts.
type ProfileInput struct {
	LangA, LangB string    // primary language subtags of texts A and B, such as "en"
	Shingling    Shingling // used only by KShingles
}

// A ProfileResult is the result of a profile for two texts.
type ProfileResult struct {
	Profile Profile `json:"profile"`
	Score   float64 `json:"score"` // in the unit that the system uses
	Unit    string  `json:"unit"`  // "share", 0 to 1, or "percent", 0 to 100
	A       int     `json:"shingles_a"`
	B       int     `json:"shingles_b"`
	Common  int     `json:"common"`
	Super   *int    `json:"super_shingles,omitempty"` // number of equal super-shingles, 0 to 6; nil if the system has none
	Mega    *int    `json:"mega_shingles,omitempty"`  // number of equal mega-shingles, 0 to 15; nil if the system has none
	Without string  `json:"form_without,omitempty"`   // parts of the system's form for which a text's language has no rules
	About   string  `json:"-"`                        // one line that describes the system to users
}

// Score compares texts a and b by the published algorithm of p.
func (p Profile) Score(a, b string, in ProfileInput) (r ProfileResult) {
	r.Profile, r.Unit = p, "share"
	switch p {
	case ZelenkovSegalovich:
		r.About = "84 minima of 10-word shingles without function words, six super-shingles, fifteen mega-shingles (Zelenkov and Segalovich, 2007)"
		r.zelenkovSegalovich(a, b, in)
	case Elementary:
		r.About, r.Unit = "CRC-32 of 3-word shingles, ignoring 26 Russian words; the score is the share of one text's words that begin a shared shingle", "percent"
		r.elementary(a, b)
	case KShingles:
		r.About = "Jaccard's coefficient of shingles of k words or characters, as sets"
		var ta, tb Text
		ta.Read([]byte(a))
		tb.Read([]byte(b))
		r.sets(in.Shingling.Append(nil, &ta), in.Shingling.Append(nil, &tb))
	}
	return r
}

// sets sets the score to the resemblance of two lists of shingles.
func (r *ProfileResult) sets(a, b []uint64) {
	x, y := NewSet(a), NewSet(b)
	r.Score, r.A, r.B, r.Common = Resemblance(x, y), len(x), len(y), common(x, y)
}

func (r *ProfileResult) zelenkovSegalovich(a, b string, in ProfileInput) {
	var ta, tb Text
	ta.ReadForm([]byte(a), NoFunction, in.LangA)
	tb.ReadForm([]byte(b), NoFunction, in.LangB)
	sa, sb := ta.Shingles(nil, 10), tb.Shingles(nil, 10)
	x, y := NewSketch(sa), NewSketch(sb)
	superX, superY := Super(&x), Super(&y)
	megaX, megaY := Mega(&superX), Mega(&superY)
	super, mega := agree(superX[:], superY[:]), agree(megaX[:], megaY[:])
	r.sets(sa, sb)
	r.A, r.B, r.Super, r.Mega = len(sa), len(sb), &super, &mega
	if len(sa)+len(sb) > 0 {
		r.Score = Estimate(&x, &y)
	}
	if missing := NoFunction.Without(in.LangA) | NoFunction.Without(in.LangB); missing != Plain {
		r.Without = missing.String()
	}
}

// The elementary algorithm removes these words and punctuation marks, as published.
var (
	elementaryWords = strings.Fields("это как так в на над к ко до за то с со для о ну же ж что он она б бы ли и у")
	elementaryMarks = strings.NewReplacer(",", "", ".", "", "!", "", "?", "", "(", "", ")", "", "-", "", "—", "", ":", "", ";", "", `"`, "")
)

// elementary is the algorithm that Russian tutorials teach. It lower-cases bytes, not letters, so a
// Russian capital stays a capital. The published numbers depend on this bug.
func (r *ProfileResult) elementary(a, b string) {
	words := elementaryTokens(a)
	sa, sb := crcShingles(words, 3), crcShingles(elementaryTokens(b), 3)
	r.A, r.B = len(sa), len(sb)
	in := map[int32]bool{}
	for _, s := range sb {
		in[s] = true
	}
	for _, s := range sa {
		if in[s] {
			r.Common++
		}
	}
	if len(words) > 0 {
		r.Score = 100 * float64(r.Common) / float64(len(words))
	}
}

func elementaryTokens(text string) []string {
	lower := []byte(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	var words []string
	for _, w := range strings.Fields(elementaryMarks.Replace(string(lower))) {
		if !slices.Contains(elementaryWords, w) {
			words = append(words, w)
		}
	}
	return words
}

// crcShingles returns the CRC-32 (IEEE) of every k consecutive words, joined by spaces. The numbers
// are signed, as PHP and Java print them. If there are fewer than k words, the result is empty.
func crcShingles(words []string, k int) []int32 {
	var all []int32
	for i := 0; i+k <= len(words); i++ {
		all = append(all, int32(crc32.ChecksumIEEE([]byte(strings.Join(words[i:i+k], " ")))))
	}
	return all
}
