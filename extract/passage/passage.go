// Package passage divides the text of a page into passages for search indexes and language models.
// A passage has a bounded number of words, follows the headings of the text, and keeps its id as
// long as its words stay the same. The package is pure.
//
//	for _, p := range passage.Split(blocks, passage.DefaultWords) {
//		fmt.Println(p.ID, p.Path, p.Text)
//	}
//
// # How a text is divided
//
// A heading begins a section. Headings without text between them begin one section together. A
// passage never has text from two sections. A section with no more words than the limit is one
// passage.
//
// A longer section is cut between blocks, such as paragraphs. The cuts depend on content, not
// position, so an edit moves no cut elsewhere. This idea is content-defined chunking:
// Muthitacharoen, Chen and Mazières, "A Low-bandwidth Network File System" (SOSP 2001). That system
// reads from left to right and cuts where a hash of the last bytes has a certain value. Minimum and
// maximum sizes then make each cut depend on the previous cut, so an edit can move some of the
// following cuts. Split has no direction. Each block has a priority, a hash of its words, and the
// block with the lowest priority is the first place to cut. Then each half that is still too long
// is cut the same way, until no piece is longer than the limit. The result has the shape of a treap
// (Seidel and Aragon, "Randomized Search Trees", 1996), which depends only on the priorities. A cut
// that would leave a piece of less than a quarter of the limit is skipped.
//
// The priority of a block is the lowest hash among the hashes of its words, as in the min-wise
// hashing of Broder (1997). An edit changes the priority only if it adds or removes the word with
// the lowest hash. If two blocks share that word, the next lowest hashes decide. So most edits of a
// paragraph move no cut. Of 1,000 random edits of a paragraph in a long section, about 20 to 50
// move one.
//
// If a piece has no permitted cut between blocks, because a block is too long, it is cut between
// sentences, or as a last resort between words.
//
// Known weaknesses. If an edit changes the priority of a block, or makes a piece longer than the
// limit, or two pieces together shorter than the limit, then up to two neighboring passages change
// too. Any word that ends with a period ends a sentence, so an abbreviation does too. Passages vary
// in length from a quarter of the limit to the limit, and short sections give short passages.
package passage

import (
	"cmp"
	"crypto/sha256"
	"math"
	"slices"
	"strings"

	"skink/base/splitmix"
)

// A Block is a paragraph, a heading, a list item or a table row.
type Block struct {
	Text  string
	Level int    // heading level, from 1; 0 if the block is not a heading
	ID    string // URL fragment that leads to the block; "" if it has none
}

// A Passage is a part of a text.
type Passage struct {
	ID       [16]byte // first half of the SHA-256 of Words, joined by one space
	Text     string   // blocks of the passage, one per line
	Words    []string // the words of Text; see [Words]
	Path     []string // headings above the passage, including its section's, outermost first; at most 200 bytes each
	Fragment string   // fragment of the innermost heading that begins the passage, or of the nearest block at or above it; "" if none has one
}

const (
	// DefaultWords is the default maximum number of words in a passage. Many embedding models read
	// at most 512 tokens, which is about 350 English words.
	DefaultWords = 250
	// MinWords is the lowest limit; Split raises lower limits to it.
	MinWords = 20

	share      = 4   // a cut must leave at least 1/share of the limit on both sides
	maxHeading = 200 // maximum number of bytes in a heading in Passage.Path
	deepest    = 6   // maximum number of headings in Passage.Path
)

// Split divides a text into passages of at most limit words, in order. A limit below [MinWords] is
// raised to MinWords. Blocks without words are left out.
func Split(blocks []Block, limit int) (all []Passage) {
	limit = max(limit, MinWords)
	var path []Block
	fragment, after := "", 0 // that of blocks[:after]
	for i := 0; i < len(blocks); {
		j := i
		for ; j < len(blocks) && blocks[j].Level > 0; j++ {
			path = under(path, blocks[j])
		}
		text := j
		for ; j < len(blocks) && blocks[j].Level == 0; j++ {
		}
		s := newSection(blocks[i:j])
		cuts := s.divide(limit)
		for k := 1; k < len(cuts); k++ {
			p := s.passage(cuts[k-1], cuts[k])
			for ; after < max(text, i+s.words[cuts[k-1]].block+1); after++ {
				fragment = cmp.Or(blocks[after].ID, fragment)
			}
			p.Path, p.Fragment = names(path), fragment
			all = append(all, p)
		}
		i = j
	}
	return all
}

// under returns the path to the heading h, given the path to the previous heading.
func under(path []Block, h Block) []Block {
	for len(path) > 0 && (path[len(path)-1].Level >= h.Level || len(path) == deepest) {
		path = path[:len(path)-1]
	}
	return append(path, h)
}

func names(path []Block) (all []string) {
	for _, h := range path {
		text := strings.Join(strings.Fields(h.Text), " ")
		if len(text) > maxHeading {
			text = strings.ToValidUTF8(text[:maxHeading], "")
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

type section struct {
	blocks []Block
	words  []word
}

func newSection(blocks []Block) *section {
	s := &section{blocks: blocks}
	for i := range blocks {
		s.words = appendWords(s.words, i, blocks[i].Text)
	}
	return s
}

func (s *section) text(i int) string {
	w := s.words[i]
	return s.blocks[w.block].Text[w.start:w.end]
}

func (s *section) passage(from, to int) Passage {
	p := Passage{Words: make([]string, 0, to-from)}
	var text strings.Builder
	for i := from; i < to; {
		block, j := s.words[i].block, i
		for ; j < to && s.words[j].block == block; j++ {
			p.Words = append(p.Words, s.text(j))
		}
		if i > from {
			text.WriteByte('\n')
		}
		text.WriteString(s.blocks[block].Text[s.words[i].start:s.words[j-1].end])
		i = j
	}
	p.Text = text.String()
	sum := sha256.Sum256([]byte(strings.Join(p.Words, " ")))
	copy(p.ID[:], sum[:])
	return p
}

// A cut is the index of a word before which a section may be cut.
type cut struct {
	at       int
	priority [4]uint64 // places with a lower priority are cut first
}

// divide returns the index of the first word of each piece, followed by the number of words. No
// piece has more than limit words.
func (s *section) divide(limit int) []int {
	if len(s.words) == 0 {
		return nil
	}
	cuts := []int{0, len(s.words)}
	for _, begins := range []func(i int) bool{s.beginsBlock, s.beginsSentence, func(int) bool { return true }} {
		var places []cut
		for k := 1; k < len(cuts); k++ {
			if cuts[k]-cuts[k-1] > limit {
				places = s.appendPlaces(places, cuts[k-1], cuts[k], begins)
			}
		}
		cuts = cutAt(cuts, places, limit)
	}
	return cuts
}

// cutAt adds places to cuts, lowest priority first. It skips places where no cut is needed or
// permitted. Pieces only become shorter, so a place that was skipped once would also be skipped
// later. So one pass gives the same cuts as cutting each half again.
func cutAt(cuts []int, places []cut, limit int) []int {
	slices.SortFunc(places, func(a, b cut) int {
		return cmp.Or(slices.Compare(a.priority[:], b.priority[:]), cmp.Compare(a.at, b.at))
	})
	least := limit / share
	for _, p := range places {
		k, found := slices.BinarySearch(cuts, p.at)
		if found || cuts[k]-cuts[k-1] <= limit || p.at-cuts[k-1] < least || cuts[k]-p.at < least {
			continue
		}
		cuts = slices.Insert(cuts, k, p.at)
	}
	return cuts
}

func (s *section) appendPlaces(places []cut, from, to int, begins func(i int) bool) []cut {
	for i := from + 1; i < to; {
		if !begins(i) {
			i++
			continue
		}
		j := i + 1
		for j < to && !begins(j) {
			j++
		}
		places = append(places, cut{i, s.priority(i, max(j, min(i+fewWords, to)))})
		i = j
	}
	return places
}

// fewWords is the minimum number of words on which a priority depends. For a shorter block, the
// words after it are included.
const fewWords = 4

// priority returns the priority of words[from:to]: the four lowest hashes of these words. Each hash
// is hashed again, so that a block with many words does not have a low priority.
func (s *section) priority(from, to int) (lowest [4]uint64) {
	for k := range lowest {
		lowest[k] = math.MaxUint64
	}
	for i := from; i < to; i++ {
		h := hashOf(s.text(i))
		k, found := slices.BinarySearch(lowest[:], h)
		if found || k == len(lowest) {
			continue
		}
		copy(lowest[k+1:], lowest[k:])
		lowest[k] = h
	}
	for k, h := range lowest {
		lowest[k] = splitmix.Mix(h)
	}
	return lowest
}

func (s *section) beginsBlock(i int) bool { return s.words[i].block != s.words[i-1].block }

func (s *section) beginsSentence(i int) bool {
	return s.beginsBlock(i) || endsSentence(s.text(i-1))
}
