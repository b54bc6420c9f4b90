package dedup

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// # Published systems
//
// Each profile computes the result of one published system, in that system's own way and with its
// oddities. Profiles reproduce the figures of papers and old sites, to compare them with those of
// this package. Crawls do not use profiles.

// A Profile is a published system.
type Profile struct {
	Name  string
	About string // one line that describes the system to users
	score func(a, b string, in ProfileInput) ProfileResult
}

// A ProfileInput holds the data that some profiles need in addition to the texts.
type ProfileInput struct {
	LangA, LangB string    // primary language subtags of texts A and B, such as "en"
	Shingling    Shingling // used only by the profile k-shingles
}

// A ProfileResult is the result of a profile for two texts.
type ProfileResult struct {
	Profile string  `json:"profile"`
	Score   float64 `json:"score"` // in the unit that the system uses
	Unit    string  `json:"unit"`  // "share", 0 to 1, or "percent", 0 to 100
	A       int     `json:"shingles_a"`
	B       int     `json:"shingles_b"`
	Common  int     `json:"common"`
	Super   *int    `json:"super_shingles,omitempty"` // number of equal super-shingles, 0 to 6; nil if the system has none
	Mega    *int    `json:"mega_shingles,omitempty"`  // number of equal mega-shingles, 0 to 15; nil if the system has none
	Without string  `json:"form_without,omitempty"`   // parts of the system's form for which a text's language has no rules
}

// Profiles returns all profiles.
func Profiles() []Profile {
	return []Profile{
		{"zelenkov-segalovich", "84 minima of 10-word shingles without function words, six super-shingles, fifteen mega-shingles (Zelenkov and Segalovich, 2007)", zelenkovSegalovich},
		{"elementary", "CRC-32 of 3-word shingles, ignoring 26 Russian words; the score is the share of one text's words that begin a shared shingle", elementary},
		{"k-shingles", "Jaccard's coefficient of shingles of k words or characters, as sets", kShingles},
	}
}

// ParseProfile returns the profile with the given name.
func ParseProfile(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("unknown profile %q: must be one of %s", name, strings.Join(names, ", "))
}

// Score compares texts a and b by the published algorithm of p.
func (p Profile) Score(a, b string, in ProfileInput) ProfileResult {
	r := p.score(a, b, in)
	r.Profile = p.Name
	return r
}

func zelenkovSegalovich(a, b string, in ProfileInput) ProfileResult {
	var ta, tb Text
	ta.ReadForm([]byte(a), NoFunction, in.LangA)
	tb.ReadForm([]byte(b), NoFunction, in.LangB)
	sa, sb := ta.Shingles(nil, 10), tb.Shingles(nil, 10)
	x, y := NewSketch(sa), NewSketch(sb)
	superX, superY := Super(&x), Super(&y)
	megaX, megaY := Mega(&superX), Mega(&superY)
	r := ProfileResult{Score: Estimate(&x, &y), Unit: "share", A: len(sa), B: len(sb), Common: common(NewSet(sa), NewSet(sb))}
	if len(sa) == 0 && len(sb) == 0 {
		r.Score = 1
	}
	super, mega := agree(superX[:], superY[:]), agree(megaX[:], megaY[:])
	r.Super, r.Mega = &super, &mega
	if missing := NoFunction.Without(in.LangA) | NoFunction.Without(in.LangB); missing != Plain {
		r.Without = missing.String()
	}
	return r
}

// The elementary algorithm removes these words and punctuation marks, as published.
var (
	elementaryWords = setOfWords("это как так в на над к ко до за то с со для о ну же ж что он она б бы ли и у")
	elementaryMarks = strings.NewReplacer(",", "", ".", "", "!", "", "?", "", "(", "", ")", "", "-", "", "—", "", ":", "", ";", "", `"`, "")
)

func setOfWords(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// elementary is the algorithm that Russian tutorials teach. It lower-cases bytes, not letters, so a
// Russian capital stays a capital. The published numbers depend on this bug.
func elementary(a, b string, _ ProfileInput) ProfileResult {
	words := elementaryTokens(a)
	sa, sb := crcShingles(words, 3), crcShingles(elementaryTokens(b), 3)
	r := ProfileResult{Unit: "percent", A: len(sa), B: len(sb)}
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
	return r
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
		if !elementaryWords[w] {
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

func kShingles(a, b string, in ProfileInput) ProfileResult {
	var ta, tb Text
	ta.Read([]byte(a))
	tb.Read([]byte(b))
	x, y := NewSet(in.Shingling.Append(nil, &ta)), NewSet(in.Shingling.Append(nil, &tb))
	return ProfileResult{Score: Resemblance(x, y), Unit: "share", A: len(x), B: len(y), Common: common(x, y)}
}
