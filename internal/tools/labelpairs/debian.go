package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// The pairs of Debian texts get their labels from the way in which they were made, never from a
// measure. The strength of each change grows from one text to the next, so that each kind covers a
// range of resemblances.

const (
	minWords, maxWords = 110, 260 // of a text before it is changed
	couples            = 60       // pairs of two manuals
	bases              = 130      // number of texts that are changed
	steps              = 10       // number of strengths of each change
)

// A section is a section of a manual: its paragraphs, and where it stands.
type section struct {
	article
	source string
	place  string // file and id
}

// A debianKind changes a text. The strength is from 0 to steps-1. Spare is the text of another
// section, and notice is a passage of a licence.
type debianKind struct {
	name      string
	duplicate bool
	change    func(rng *rand.Rand, a, spare, notice article, strength int) (article, article)
}

var debianKinds = []debianKind{
	{"words corrected", true, func(rng *rand.Rand, a, spare, _ article, s int) (article, article) { // one word in 120 to one in 12
		return a, exchanged(rng, a, spare, a.words()*(s+1)/120)
	}},
	{"passage replaced", true, func(rng *rand.Rand, a, spare, _ article, s int) (article, article) { // 1% to 13% of the words
		words, by := flat(a), flat(spare)
		n := min(len(words)*(s+1)/75+2, len(by))
		at := rng.IntN(len(words) - n)
		b := slices.Concat(words[:at], by[:n], words[at+n:])
		return article{words}, article{b}
	}},
	{"passage added", true, func(rng *rand.Rand, a, spare, _ article, s int) (article, article) { // 2% to 20% of the words
		extra := flat(spare)
		extra = extra[:min(len(extra), a.words()*(s+1)/50+2)]
		return a, slices.Insert(clone(a), rng.IntN(len(a)+1), extra)
	}},
	{"paragraphs reordered", true, func(rng *rand.Rand, a, _, _ article, s int) (article, article) {
		a = chopped(flat(a), 60-5*s) // the paragraphs have 60 to 15 words
		b := clone(a)
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		return a, b
	}},
	{"other frame", true, func(_ *rand.Rand, a, _, notice article, s int) (article, article) { // a frame of 2% to 20%
		n := a.words()*(s+1)/50 + 2
		frame := flat(notice)
		return a, slices.Concat(article{frame[:n/2]}, a, article{frame[n/2 : n]})
	}},
	{"rewritten", false, func(rng *rand.Rand, a, spare, _ article, s int) (article, article) { // every second to fourth word
		return a, exchanged(rng, a, spare, a.words()*(25+s*3)/100)
	}},
	{"excerpt", false, func(rng *rand.Rand, a, _, _ article, s int) (article, article) { // 15% to 60%, at least 50 words
		words := flat(a)
		n := max(len(words)*(15+5*s)/100, 50)
		at := rng.IntN(len(words) - n)
		return a, article{words[at : at+n]}
	}},
	{"quotation", false, func(_ *rand.Rand, a, spare, _ article, s int) (article, article) { // a tenth to half of the text
		words, other := flat(a), flat(spare)
		return a, article{other[:len(other)/2], words[:len(words)*(10+4*s)/100], other[len(other)/2:]}
	}},
	{"same boilerplate", false, func(_ *rand.Rand, a, spare, notice article, s int) (article, article) { // one to nine times the body
		body, other, frame := flat(a), flat(spare), flat(notice)
		n := min(len(frame)/(s+2), len(body), len(other))
		return slices.Concat(article{frame, body[:n]}), slices.Concat(article{frame, other[:n]})
	}},
	{"same form", false, func(rng *rand.Rand, a, spare, notice article, s int) (article, article) { // other data every 8 to 80 words
		fields := chopped(flat(notice), 8*(s+1))
		return filled(rng, fields, flat(a)), filled(rng, fields, flat(spare))
	}},
}

func runDebian(root string, w io.Writer) error {
	var all []section
	for _, m := range manuals {
		found, err := m.read(root)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	notices, err := readNotices(root)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(84, 47))
	out := debianWriter{json.NewEncoder(w), map[[2]string]bool{}}
	out.SetEscapeHTML(false)
	picked := pick(rng, all)
	for i, a := range picked {
		spare, notice := picked[(i+7)%len(picked)], notices[i%len(notices)]
		for j, k := range debianKinds {
			x, y := k.change(rng, a.article, spare.article, notice.article, (i+j)%steps)
			if err := out.write(x, y, k.duplicate, k.name, a.source+", "+spare.source+", "+notice.source); err != nil {
				return err
			}
		}
	}
	if err := out.couple(all, "clang-14-doc", "clang-16-doc", "versions", true); err != nil {
		return err
	}
	for _, other := range []string{"developers-reference-de", "developers-reference-fr"} {
		if err := out.couple(all, "developers-reference", other, "translation", false); err != nil {
			return err
		}
	}
	return nil
}

type debianWriter struct {
	*json.Encoder
	written map[[2]string]bool
}

// write writes a pair, unless its texts are equal or the same pair was written before.
func (w debianWriter) write(a, b article, duplicate bool, kind, source string) error {
	texts := [2]string{join(a), join(b)}
	if texts[0] == texts[1] || w.written[texts] {
		return nil
	}
	w.written[texts] = true
	return w.Encode(pair{texts[0], texts[1], duplicate, kind, source})
}

// couple writes pairs of sections that stand at the same place in two manuals, at most couples of
// them. It leaves out a translation in which a paragraph is not translated.
func (w debianWriter) couple(all []section, from, to, kind string, duplicate bool) error {
	at := map[string]section{}
	for _, s := range all {
		if s.source == to {
			at[s.place] = s
		}
	}
	left := couples
	for _, s := range all {
		if other, ok := at[s.place]; ok && s.source == from && left > 0 && join(s.article) != join(other.article) && (duplicate || !sharesParagraph(s.article, other.article)) {
			left--
			if err := w.write(s.article, other.article, duplicate, kind, from+", "+to); err != nil {
				return err
			}
		}
	}
	return nil
}

func sharesParagraph(a, b article) bool {
	return slices.ContainsFunc(a, func(p []string) bool {
		return slices.ContainsFunc(b, func(q []string) bool { return slices.Equal(p, q) })
	})
}

// pick returns the texts that are changed: some of each manual, but each section of one version
// only.
func pick(rng *rand.Rand, all []section) (picked []section) {
	by := map[string][]section{}
	for _, s := range all {
		by[s.source] = append(by[s.source], s)
	}
	sources := []string{"clang-16-doc", "debian-policy", "developers-reference", "git-doc"}
	for _, s := range sources {
		rng.Shuffle(len(by[s]), func(i, j int) { by[s][i], by[s][j] = by[s][j], by[s][i] })
	}
	for i := 0; len(picked) < bases && i < bases; i++ {
		for _, s := range sources {
			if i < len(by[s]) && len(picked) < bases {
				picked = append(picked, by[s][i])
			}
		}
	}
	return picked
}

// A manual is the documentation in one package.
type manual struct {
	source, folder string
	byNumber       bool // ids of sections differ between translations, so that their number is used
}

var manuals = []manual{
	{"clang-14-doc", "clang-14/html", false},
	{"clang-16-doc", "clang-16/html", false},
	{"debian-policy", "debian-policy/policy.html", false},
	{"developers-reference", "../developers-reference", true},
	{"developers-reference-de", "../developers-reference/de", true},
	{"developers-reference-fr", "../developers-reference/fr", true},
	{"git-doc", "git-doc", false},
}

func (m manual) read(root string) (all []section, err error) {
	names, err := filepath.Glob(filepath.Join(root, m.folder, "*.html"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no files in %s", m.source, filepath.Join(root, m.folder))
	}
	seen := map[string]bool{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		doc, err := goquery.NewDocumentFromReader(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		doc.Find("section[id], div.section[id], div.sect1, div.sect2").Each(func(i int, s *goquery.Selection) {
			place := fmt.Sprint(filepath.Base(name), "#", s.AttrOr("id", s.Find("h2, h3").First().AttrOr("id", "")))
			if m.byNumber {
				place = fmt.Sprint(filepath.Base(name), "#", i)
			}
			a := ownText(s)
			if text := join(a); a.words() >= minWords && !seen[text] {
				seen[text] = true
				all = append(all, section{a, m.source, place})
			}
		})
	}
	return all, nil
}

// ownText returns the paragraphs of a section without those of its subsections, up to maxWords. It
// leaves out paragraphs that may name a person.
func ownText(s *goquery.Selection) (a article) {
	const sections = "section[id], div.section[id], div.sect1, div.sect2"
	s.Find("p").Each(func(_ int, p *goquery.Selection) {
		words := strings.Fields(p.Text())
		if p.Closest(sections).Get(0) != s.Get(0) || len(words) < 5 || personal(p.Text()) {
			return
		}
		if left := maxWords - a.words(); left > 0 {
			a = append(a, words[:min(len(words), left)])
		}
	})
	return a
}

func personal(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc([]string{"@", " at debian", "mailto", "copyright", "maintainer:", "author:", "signed-off"}, func(mark string) bool {
		return strings.Contains(lower, mark)
	})
}

// readNotices returns passages of licences of maxWords words.
func readNotices(root string) (all []section, err error) {
	for _, name := range []string{"GPL-2", "GPL-3", "LGPL-2.1", "MPL-2.0", "Artistic", "Apache-2.0"} {
		text, err := os.ReadFile(filepath.Join(root, "../common-licenses", name))
		if err != nil {
			return nil, err
		}
		var words []string
		for part := range strings.SplitSeq(string(text), "\n\n") {
			if !personal(part) {
				words = append(words, strings.Fields(part)...)
			}
		}
		for i, words := range slices.Collect(slices.Chunk(words, maxWords)) {
			if len(words) == maxWords && i < 4 {
				all = append(all, section{article{words}, "base-files " + name, ""})
			}
		}
	}
	return all, nil
}

func flat(a article) []string { return slices.Concat(a...) }

// chopped cuts words into paragraphs of n words.
func chopped(words []string, n int) (a article) {
	for part := range slices.Chunk(words, n) {
		a = append(a, part)
	}
	return a
}

// exchanged returns a copy of an article with n words, at least one, replaced by words of another.
func exchanged(rng *rand.Rand, a, other article, n int) article {
	words, by := flat(a), flat(other)
	for _, at := range rng.Perm(len(words))[:max(n, 1)] {
		words[at] = by[rng.IntN(len(by))]
	}
	return article{words}
}

// filled returns a form with three words of data after each of its lines.
func filled(rng *rand.Rand, form article, data []string) (a article) {
	for _, line := range form {
		at := rng.IntN(len(data) - 3)
		a = append(a, line, data[at:at+3])
	}
	return a
}
