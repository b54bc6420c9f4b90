package ingest

import (
	"context"
	"encoding/binary"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"skink/crawler/learn"
	"skink/dedup"
	"skink/store"
)

// # Comparing a page with the answer to a probe
//
// A page that wrongly counts as an error is lost, which is worse than keeping an error page. So the
// texts must have the same words, not just a share of them: a page may have only 35 words about a
// product in a template of 400 words. Many answers repeat the URL. So the words of the page's URL
// and of the probe are ignored in both texts. A page is then equal to the answer if its title has
// the same words, and one of these is true:
//
//   - The texts have the same words, in any order. A few words with digits may differ on either
//     side, such as a time or a counter: at most maxOwn, and at most one in oneIn of the answer's
//     words. On some sites, real pages with other titles differ from the answer by only a few
//     words. So the number of differing words must be less than half that of the nearest of these
//     pages, and 0 if fewer than minOthers of them are known.
//   - At least minOthers pages of the pattern have other titles, and the page shares text with the
//     answer that none of them has: at least minShared runs of three words, and at least one in
//     shareOfOwn of the page's runs that are not in those other texts. This recognizes error pages
//     that also show a changing selection of other text. If only the first headLines lines differ, the
//     page is a view: its heading says what the list below shows.
//
// Known weaknesses: A page without words of its own cannot be distinguished from the answer. An
// example is an empty list on a site that shows the same page for lists that do not exist. An
// answer with a time or a random text is not recognized on a site that has one title for all pages,
// or if no known URL of the pattern exists.
const (
	maxOwn     = 8  // maximum number of words that may differ
	oneIn      = 8  // at most one in oneIn of the answer's words may differ
	minOthers  = 3  // minimum number of known pages with other titles
	minShared  = 16 // minimum number of runs of three words that the page shares with the answer
	headLines  = 3  // number of lines that may be a heading
	shareOfOwn = 3  // at least one in shareOfOwn of the page's own runs must be in the answer
)

// saysMissing reports whether a page is equal to the answer to its pattern's probe. It calls text
// only if the titles have the same words.
func (f *softPages) saysMissing(ctx context.Context, soft *learn.Soft, r *store.Record, text func() (string, error)) (bool, error) {
	a, err := f.answer(ctx, soft)
	if err != nil {
		return false, err
	}
	page := wordsOf(r.URL, r.Title, "")
	if !a.hasTitleOf(page) {
		return false, nil
	}
	main, err := text()
	page.read(main)
	return err == nil && a.saidBy(page), err
}

type pageWords struct {
	url   []string
	title []string
	text  []string
	head  int // number of words of the text in its first lines
}

func wordsOf(url, title, text string) *pageWords {
	p := &pageWords{url: urlWords(url), title: tokensOf(title)}
	p.read(text)
	return p
}

func (p *pageWords) read(text string) {
	p.text = tokensOf(text)
	lines := strings.SplitAfterN(text, "\n", headLines+1)
	p.head = min(len(tokensOf(strings.Join(lines[:min(len(lines), headLines)], ""))), len(p.text))
}

type softAnswer struct {
	*pageWords
	others int          // number of known pages of the pattern with other titles
	near   int          // number of words by which the most similar of these pages differs from the answer
	taken  map[run]bool // runs of words in the known pages with other titles
}

type run [3]string

func newSoftAnswer(words *pageWords, others []*pageWords) *softAnswer {
	a := &softAnswer{pageWords: words, taken: map[run]bool{}}
	for _, other := range others {
		if a.hasTitleOf(other) {
			continue
		}
		answer, text := a.beside(other)
		if d := unmatched(answer, text); a.others == 0 || d < a.near {
			a.near = d
		}
		a.others++
		for r := range runsOf(text) {
			a.taken[r] = true
		}
	}
	return a
}

// drop reports whether a word is part of the URL of the answer or of a page.
func (a *softAnswer) drop(page *pageWords) func(word string) bool {
	return func(word string) bool { return slices.Contains(a.url, word) || slices.Contains(page.url, word) }
}

// beside returns the texts of the answer and of a page without the words of their URLs.
func (a *softAnswer) beside(page *pageWords) (answer, text []string) {
	drop := a.drop(page)
	return leave(a.text, drop), leave(page.text, drop)
}

func (a *softAnswer) hasTitleOf(page *pageWords) bool {
	drop := a.drop(page)
	return slices.Equal(leave(a.title, drop), leave(page.title, drop))
}

func (a *softAnswer) saidBy(page *pageWords) bool {
	if !a.hasTitleOf(page) {
		return false
	}
	answer, text := a.beside(page)
	differing := unmatched(answer, text)
	switch {
	case len(answer) == 0:
		return false
	case differing == 0:
		return true
	case a.others < minOthers:
		return false
	case differOnlyInNumbers(answer, text, (a.near-1)/2):
		return true
	}
	return !a.isViewAs(page) && a.shares(answer, text)
}

// isViewAs reports whether a page and the answer differ only in their first lines, and in a few words with digits.
func (a *softAnswer) isViewAs(page *pageWords) bool {
	drop := a.drop(page)
	answer, text := leave(a.text[a.head:], drop), leave(page.text[page.head:], drop)
	return len(answer) >= minShared && differOnlyInNumbers(answer, text, maxOwn)
}

// differOnlyInNumbers reports whether only a few words with digits differ, and at most the given number of words.
func differOnlyInNumbers(answer, text []string, most int) bool {
	return unmatched(leave(answer, hasDigit), leave(text, hasDigit)) == 0 && unmatched(answer, text) <= min(maxOwn, len(answer)/oneIn, most)
}

// shares reports whether a page shares enough text with the answer, not counting text that the
// other pages also contain.
func (a *softAnswer) shares(answer, text []string) bool {
	said := runsOf(answer)
	own, shared := 0, 0
	for r := range runsOf(text) {
		if a.taken[r] {
			continue
		}
		own++
		if said[r] {
			shared++
		}
	}
	return shared >= minShared && shared*shareOfOwn >= own
}

// unmatched returns the number of words of a that are not in b, or the number of words of b that are
// not in a, whichever is larger. Repeated words count each time.
func unmatched(a, b []string) int {
	left := map[string]int{}
	for _, w := range a {
		left[w]++
	}
	both := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			both++
		}
	}
	return max(len(a), len(b)) - both
}

func leave(words []string, drop func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(words), drop)
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

func runsOf(words []string) map[run]bool {
	all := map[run]bool{}
	for i := range len(words) - 2 {
		all[run(words[i:i+3])] = true
	}
	return all
}

func tokensOf(text string) []string {
	canon := texts.Get().(*dedup.Text)
	defer giveBack(canon)
	if canon.Read([]byte(text)); canon.Len() == 0 {
		return nil
	}
	return strings.Split(string(canon.Bytes()), " ")
}

// urlWords returns the words of a URL behind its host.
func urlWords(rawURL string) []string {
	_, rest, _ := strings.Cut(rawURL, "://")
	_, rest, _ = strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return tokensOf(rest)
}

// titleWords returns a hash of the words of a title that are not in the page's URL.
func titleWords(title, url string) uint64 {
	h := dedup.HashOf([]byte(strings.Join(wordsBeside(url, title), " ")))
	return binary.LittleEndian.Uint64(h[:])
}

func wordsBeside(url, text string) []string {
	inURL := urlWords(url)
	return leave(tokensOf(text), func(word string) bool { return slices.Contains(inURL, word) })
}

// An answerOf is the cache key of a softAnswer: it identifies the answer and the pages that it is
// compared with.
type answerOf struct{ probe, text, others string }

const softAnswersKept = 8 << 20

func (a *softAnswer) weigh() int { return 64*len(a.text) + 128*len(a.taken) }

func (f *softPages) answer(ctx context.Context, soft *learn.Soft) (*softAnswer, error) {
	name := answerOf{soft.Probe, soft.Text, strings.Join(soft.Others, " ")}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, ok := f.answers.Get(name); ok {
		return a, nil
	}
	var others []*pageWords
	for _, url := range soft.Others {
		c, err := f.store.content(ctx, dedup.HashOf([]byte(url)))
		if err != nil {
			return nil, err
		}
		if c != nil && c.Record.Kind == store.Page && c.Kept {
			others = append(others, wordsOf(url, c.Record.Title, c.Text))
		}
	}
	a := newSoftAnswer(wordsOf(soft.Probe, soft.Title, soft.Text), others)
	f.answers.Put(name, a)
	return a, nil
}
