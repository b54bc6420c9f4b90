package document

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"skink/document/pdf"
	"skink/extract"
)

// # Text of PDF files
//
// A PDF file places lines of text at positions on pages. PDFium returns them in reading order, and
// four rules turn them into paragraphs.
//
//   - Page headers and footers: the first or last line of a page is dropped if the same line, apart
//     from its numbers, is the first or last on two other pages. So a line that is on only one page
//     is never lost.
//   - Tables of contents: a line that ends in a row of dots and a number is dropped. The text
//     contains the heading itself.
//   - Paragraphs: a line ends its paragraph if it is much shorter than the other lines of its page.
//     A line that begins with a bullet or a section number begins a new paragraph. A paragraph may
//     continue on the next page.
//   - Hyphens: a word broken at the end of a line is joined. It keeps its hyphen if the word occurs
//     elsewhere in the document with a hyphen, but nowhere without one.
//
// Known weaknesses: headings are not found, tables become rows of words, and the parts of a formula
// appear in the order they were drawn.

func pdfDocument(f *pdf.File) *extract.Document {
	d := &extract.Document{
		Title: strings.TrimPrefix(f.Tags["Title"], "Microsoft Word - "), Author: f.Tags["Author"], Description: f.Tags["Subject"], Lang: f.Lang,
		Published: pdfDate(f.Tags["CreationDate"]), Modified: pdfDate(f.Tags["ModDate"]),
	}
	extract.FromBlocks(d, paragraphs(linesOf(f.Pages)))
	return d
}

// ofContents matches a line of a table of contents, which ends in a row of dots and a page number.
var ofContents = regexp.MustCompile(`(\. ?){4,} *([0-9]+|[ivxl]+)$`)

// linesOf returns the lines of each page, without blank lines, tables of contents, page headers and
// page footers.
func linesOf(pages []string) [][]string {
	all := make([][]string, len(pages))
	for i, text := range pages {
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\f' }) {
			if line = strings.TrimSpace(line); line != "" && !ofContents.MatchString(line) {
				all[i] = append(all[i], line)
			}
		}
	}
	return dropRunning(all)
}

const (
	edge      = 2 // number of lines at the top and at the bottom of a page that may be page headers or footers
	repeating = 3 // a line at the edge of at least this many pages counts as a page header or footer
)

func dropRunning(pages [][]string) [][]string {
	for range edge {
		for _, at := range []func(page []string) int{
			func([]string) int { return 0 },
			func(page []string) int { return len(page) - 1 },
		} {
			counts := map[string]int{}
			for _, page := range pages {
				if len(page) > 0 {
					counts[masked(page[at(page)])]++
				}
			}
			for i, page := range pages {
				if len(page) == 0 || counts[masked(page[at(page)])] < repeating {
					continue
				}
				if at(page) == 0 {
					pages[i] = page[1:]
				} else {
					pages[i] = page[:len(page)-1]
				}
			}
		}
	}
	return pages
}

// masked replaces each number in a line with #, so that "Page 3" and "Page 4" become equal. It also
// replaces Roman numerals, because prefaces often have them.
func masked(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		words[i] = roman.ReplaceAllString(word, "#")
	}
	return digits.ReplaceAllString(strings.Join(words, " "), "#")
}

var roman, digits = regexp.MustCompile(`^[ivxl]{1,7}$`), regexp.MustCompile(`\p{Nd}+`)

func paragraphs(pages [][]string) []extract.Block {
	j := joiner{words: map[string]bool{}}
	for _, page := range pages {
		for _, line := range page {
			j.know(line)
		}
	}
	for _, page := range pages {
		width := widthOf(page)
		for _, line := range page {
			j.add(line, width)
		}
	}
	j.flush()
	return j.blocks
}

// widthOf returns the width of a page's text in characters: at least a quarter of the lines are
// that long.
func widthOf(page []string) int {
	var counts [512]int
	for _, line := range page {
		counts[min(utf8.RuneCountInString(line), len(counts)-1)]++
	}
	seen := 0
	for n := len(counts) - 1; n >= 0; n-- {
		if seen += counts[n]; seen*4 >= len(page) {
			return n
		}
	}
	return 0
}

// full is the minimum length of a line that does not end its paragraph, as a share of the page
// width.
const full = 0.7

// brokenHyphen is what PDFium returns for a hyphen at the end of a line.
const brokenHyphen = "\x02"

type joiner struct {
	words  map[string]bool
	blocks []extract.Block
	now    strings.Builder
	broken string // first part of a word broken at the end of the last line; "" if none
	goesOn bool   // the paragraph may continue on the next line
}

func (j *joiner) know(line string) {
	for word := range strings.FieldsSeq(line) {
		if word = bare(word); word != "" && !strings.HasSuffix(word, "-") && !strings.Contains(word, brokenHyphen) {
			j.words[word] = true
		}
	}
}

func bare(word string) string {
	return strings.ToLower(strings.TrimFunc(word, func(r rune) bool {
		return r != '-' && string(r) != brokenHyphen && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}))
}

// add adds a line to the current paragraph, or begins a new paragraph with it. width is the width
// of the line's page in characters.
func (j *joiner) add(line string, width int) {
	if j.broken == "" && (!j.goesOn || beginsBlock(line)) {
		j.flush()
	}
	length := utf8.RuneCountInString(line)
	if j.broken != "" {
		first, rest, _ := strings.Cut(line, " ")
		j.now.WriteString(j.joined(j.broken, first))
		line = rest
		if rest != "" {
			line = " " + rest
		}
	} else if j.now.Len() > 0 {
		j.now.WriteByte(' ')
	}
	line, j.broken = splitBroken(line)
	j.now.WriteString(line)
	j.goesOn = float64(length) >= full*float64(width)
}

// splitBroken splits a line that ends with a hyphen into the text before the last word, and that
// word with its hyphen. word is "" if the line ends with a whole word.
func splitBroken(line string) (rest, word string) {
	head, marked := strings.CutSuffix(line, brokenHyphen)
	if !marked {
		if head, marked = strings.CutSuffix(line, "-"); !marked {
			return line, ""
		}
	}
	last, _ := utf8.DecodeLastRuneInString(head)
	if !unicode.IsLetter(last) {
		return head + "-", ""
	}
	at := strings.LastIndexByte(head, ' ') + 1
	return head[:at], head[at:] + "-"
}

// joined joins the two parts of a word broken at the end of a line. first still ends with the
// hyphen. The hyphen stays if second does not begin with a lowercase letter, or if the rest of the
// document has the word only with a hyphen.
func (j *joiner) joined(first, second string) string {
	start, _ := utf8.DecodeRuneInString(second)
	plain := strings.TrimSuffix(first, "-") + second
	switch {
	case !unicode.IsLower(start): // could be a name, a number, or two words
		return first + second
	case j.words[bare(first+second)] && !j.words[bare(plain)]:
		return first + second
	}
	return plain
}

func (j *joiner) flush() {
	j.now.WriteString(j.broken)
	if j.now.Len() > 0 {
		j.blocks = append(j.blocks, extract.Block{Text: j.now.String()})
	}
	j.now.Reset()
	j.broken, j.goesOn = "", false
}

// section matches the beginning of a numbered heading, such as "2.1 Results".
var section = regexp.MustCompile(`^([0-9]+|[A-Z])(\.[0-9]+)+\.? \pL`)

// A list item or a numbered heading begins a new paragraph.
func beginsBlock(line string) bool {
	if section.MatchString(line) {
		return true
	}
	first, size := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("•‣◦▪●○■□–—-*·", first) && strings.HasPrefix(line[size:], " ")
}

// pdfDate converts a date from a PDF file, such as D:20260131120000+01'00', to RFC 3339, or to a
// plain date such as 2026-01-31 if it has no time. It returns "" for any other text.
func pdfDate(s string) string {
	s = strings.NewReplacer("D:", "", "'", "", ":", "").Replace(strings.TrimSpace(s))
	for _, layout := range []string{"20060102150405-0700", "20060102150405-07", "20060102150405"} {
		if t, err := time.Parse(layout, s[:min(len(s), len(layout))]); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	if t, err := time.Parse("20060102", s[:min(len(s), len("20060102"))]); err == nil {
		return t.Format(time.DateOnly)
	}
	return ""
}
