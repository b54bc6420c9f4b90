// Command published compares two files as published systems do, with their oddities, to reproduce
// the figures of papers and old sites:
//
//	go run ./examples/published zelenkov-segalovich one.html two.html
//	go run ./examples/published elementary one.txt two.txt
//	go run ./examples/published k-shingles -unit char -k 2 one.txt two.txt
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"skink/dedup"
	"skink/dedup/language"
	"skink/extract"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

const usage = "usage: published zelenkov-segalovich|elementary|k-shingles [-unit word|char] [-k N] FILE FILE"

func run(out io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	unit, k := flags.String("unit", "word", "with k-shingles: word or char"), flags.Int("k", 3, "with k-shingles: words or characters of a shingle")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New(usage)
	}
	var docs [2]*extract.Document
	for i, name := range flags.Args() {
		body, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if docs[i], err = extract.Parse(body, ""); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var r result
	switch args[0] {
	case "zelenkov-segalovich":
		r = zelenkovSegalovich(docs[0], docs[1])
	case "elementary":
		r = elementary(docs[0].Text, docs[1].Text)
	case "k-shingles":
		s := dedup.Shingling{Unit: dedup.Words, K: *k}
		if *unit == "char" {
			s.Unit = dedup.Chars
		}
		r = kShingles(docs[0].Text, docs[1].Text, s)
	default:
		return errors.New(usage)
	}
	fmt.Fprintf(out, "%.4f%s\n%d shingles in A, %d in B, %d in both\n", r.score, r.unit, r.a, r.b, r.common)
	if r.unit == "" && args[0] != "k-shingles" {
		fmt.Fprintf(out, "%d of 6 super-shingles and %d of 15 mega-shingles are equal\n", r.super, r.mega)
	}
	return nil
}

// A result is what a system says of two texts.
type result struct {
	score        float64 // 0 to 1, or percent
	unit         string  // "%" or ""
	a, b, common int     // number of shingles
	super, mega  int     // number of equal super-shingles and mega-shingles
}

// zelenkovSegalovich is the system of Zelenkov and Segalovich, 2007: 84 minima of 10-word shingles
// without function words, six super-shingles and fifteen mega-shingles.
func zelenkovSegalovich(a, b *extract.Document) result {
	x, y := withoutFunctionWords(a), withoutFunctionWords(b)
	sa, sb := x.Shingles(nil, 10), y.Shingles(nil, 10)
	sketchA, sketchB := dedup.NewSketch(sa), dedup.NewSketch(sb)
	superA, superB := dedup.Super(&sketchA), dedup.Super(&sketchB)
	megaA, megaB := dedup.Mega(&superA), dedup.Mega(&superB)
	r := result{a: len(sa), b: len(sb), common: both(sa, sb), super: equal(superA[:], superB[:]), mega: equal(megaA[:], megaB[:]), score: 1}
	if len(sa)+len(sb) > 0 {
		r.score = dedup.Estimate(&sketchA, &sketchB)
	}
	return r
}

// withoutFunctionWords returns the text of a page without prepositions, conjunctions, particles, articles and pronouns.
func withoutFunctionWords(d *extract.Document) *dedup.Text {
	var all dedup.Text
	all.ReadString(d.Text)
	var left []string
	for i := range all.Len() {
		if word := all.Token(i); !language.FunctionWord(d.Lang, word) {
			left = append(left, word)
		}
	}
	text := new(dedup.Text)
	text.ReadString(strings.Join(left, " "))
	return text
}

// kShingles is Jaccard's coefficient of the sets of shingles.
func kShingles(a, b string, s dedup.Shingling) result {
	var x, y dedup.Text
	x.Read([]byte(a))
	y.Read([]byte(b))
	sa, sb := dedup.NewSet(s.Append(nil, &x)), dedup.NewSet(s.Append(nil, &y))
	return result{score: dedup.Resemblance(sa, sb), a: len(sa), b: len(sb), common: both(sa, sb)}
}

// both returns how many different shingles two lists share.
func both(a, b []uint64) (n int) {
	in := map[uint64]bool{}
	for _, s := range b {
		in[s] = true
	}
	for _, s := range slices.Compact(slices.Sorted(slices.Values(a))) {
		if in[s] {
			n++
		}
	}
	return n
}

// equal returns in how many places two lists have the same value.
func equal(a, b []uint64) (n int) {
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

// The elementary algorithm removes these words and punctuation marks, as published.
var (
	elementaryWords = strings.Fields("это как так в на над к ко до за то с со для о ну же ж что он она б бы ли и у")
	elementaryMarks = strings.NewReplacer(",", "", ".", "", "!", "", "?", "", "(", "", ")", "", "-", "", "—", "", ":", "", ";", "", `"`, "")
)

// elementary is the algorithm that Russian tutorials teach: the share of one text's words that begin
// a shared shingle of three words. It lower-cases bytes, not letters, so a Russian capital stays a
// capital. The published numbers depend on this bug.
func elementary(a, b string) result {
	words := elementaryTokens(a)
	sa, sb := crcShingles(words, 3), crcShingles(elementaryTokens(b), 3)
	r := result{unit: "%", a: len(sa), b: len(sb)}
	for _, s := range sa {
		if slices.Contains(sb, s) {
			r.common++
		}
	}
	if len(words) > 0 {
		r.score = 100 * float64(r.common) / float64(len(words))
	}
	return r
}

func elementaryTokens(text string) (words []string) {
	lower := []byte(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	for w := range strings.FieldsSeq(elementaryMarks.Replace(string(lower))) {
		if !slices.Contains(elementaryWords, w) {
			words = append(words, w)
		}
	}
	return words
}

// crcShingles returns the CRC-32 (IEEE) of every k consecutive words, joined by spaces. The numbers
// are signed, as PHP and Java print them. If there are fewer than k words, the result is empty.
func crcShingles(words []string, k int) (all []int32) {
	for i := 0; i+k <= len(words); i++ {
		all = append(all, int32(crc32.ChecksumIEEE([]byte(strings.Join(words[i:i+k], " ")))))
	}
	return all
}
