package cli

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/internal/session"
	"skink/report"
	"skink/store"
)

var compareCommand = command{
	name:  "compare",
	args:  "[flags] A B",
	short: "compare two pages with all similarity measures",
	setup: setupCompare,
	rules: ruleRules,
}

type compareFlags struct {
	flags *pflag.FlagSet
	store string // store with the pages; "" means that the arguments are files or URLs
	rule  *ruleFlags
	json  bool
	check bool
	fetch crawler.Options // options for fetching a page
}

func setupCompare(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &compareFlags{flags: flags, rule: addRuleFlags(flags), fetch: crawler.Defaults()}
	flags.Var(storeName{&f.store}, "store", "`STORE` compare two pages of this store, named by URL or id, instead of two files")
	_ = flags.MarkHidden("scheme") // the output shows the results of all schemes
	flags.BoolVar(&f.json, "json", false, "print the result as a JSON object")
	flags.BoolVar(&f.check, "check", false, "exit with code 3 if the two pages are not duplicates")
	flags.String("html", "", "`FILE` write to this file an HTML page that shows both texts with the shared passages highlighted")
	isOutput(flags, "html", fileOutput, "")
	addPrivateFlag(flags, &f.fetch)
	return f.run
}

func (f *compareFlags) run(ctx context.Context, con Console, args []string) error {
	if args[0] == "-" && args[1] == "-" {
		return usagef("compare: only one of the two pages can be standard input")
	}
	if err := standsAlone(con, args); err != nil {
		return err
	}
	fromStore := typed(f.flags, "store")
	if !fromStore {
		if err := checkURLs(args); err != nil {
			return err
		}
	}
	if _, err := session.RuleOf(f.rule.settings()); err != nil {
		return err
	}
	read := f.readPages
	if fromStore {
		read = f.readStored
	}
	p, err := read(ctx, con, args)
	if err != nil {
		return err
	}
	rule, err := session.RuleOf(p.settings)
	if err != nil {
		return err
	}
	return f.print(ctx, con, compare(p, rule))
}

type pair struct {
	names    [2]string
	docs     [2]*extract.Document
	settings store.Settings // settings of the comparison, from the flags or from the store with the pages

	records [2]*store.Record // the pages' records if the pages are from a store, otherwise nil; of the text that extraction left out, a record has only the hash and word count
}

func (f *compareFlags) readPages(ctx context.Context, con Console, args []string) (p pair, err error) {
	p.settings = f.rule.settings()
	documents := document.NewReader(document.Options{})
	defer func() { err = keepFirst(err, documents.Close()) }()
	for i, name := range args {
		p.names[i] = name
		if p.docs[i], err = readPage(ctx, con, documents, extract.Options{}, f.fetch, name); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (f *compareFlags) print(ctx context.Context, con Console, c *sideBySide) error {
	if to := con.files.Of("--html"); to != nil {
		if err := to.Write(ctx, c.printHTML); err != nil {
			return err
		}
	}
	printed := c.printText
	if f.json {
		printed = func(w io.Writer) error { return report.WriteJSON(w, c) }
	}
	if err := printed(con.Out); err != nil {
		return err
	}
	if f.check && c.Verdict != dedup.Near && c.Verdict != dedup.Exact {
		return exitError(exitDiffers)
	}
	return nil
}

// A sideBySide is the output of skink compare: all measures of two pages A and B. The JSON field
// names are stable.
type sideBySide struct {
	A       side       `json:"a"`
	B       side       `json:"b"`
	Unit    dedup.Unit `json:"unit"`
	Shingle int        `json:"shingle"`
	dedup.Comparison
	Similarity  float64           `json:"similarity"`
	Verdict     dedup.VerdictKind `json:"verdict"`
	Remark      string            `json:"remark,omitempty"`   // a sentence about something that the verdict does not express, such as one page being an excerpt of the other; may be ""
	LeftDiffers int               `json:"left_out_differs"`   // number of words that extraction left out of only one of the pages; for pages of a store, an upper bound
	Doubtful    bool              `json:"doubtful,omitempty"` // the verdict is exact or near, but LeftDiffers is more than --min-words
	Passages    []passage         `json:"passages"`           // runs of words in both pages, longest first

	leftSays string // sentence about the difference between the left-out texts, printed if the verdict is doubtful
	rule     dedup.Rule
}

type side struct {
	Name       string     `json:"name"`
	Title      string     `json:"title"`
	Lang       string     `json:"lang"`
	Characters int        `json:"characters"` // length of the canonical text in characters
	Words      int        `json:"words"`
	Shingles   int        `json:"shingles"` // number of distinct shingles
	Hash       dedup.Hash `json:"hash"`

	text  string
	canon dedup.Text
}

type passage struct {
	A     int    `json:"a"` // index of the passage's first word in page A, from 0
	B     int    `json:"b"` // index of the passage's first word in page B
	Words int    `json:"words"`
	Text  string `json:"text"` // the passage as spelled in page A
}

func compare(p pair, rule dedup.Rule) *sideBySide {
	s := rule.Shingling
	c := &sideBySide{Unit: s.Unit, Shingle: s.K, Similarity: rule.Similarity, rule: rule}
	c.A.read(p.names[0], p.docs[0])
	c.B.read(p.names[1], p.docs[1])
	c.Comparison = dedup.Compare(&c.A.canon, &c.B.canon, s)
	c.A.Shingles, c.B.Shingles = c.ShinglesA, c.ShinglesB
	c.Verdict = c.verdict(rule)
	c.left(p)
	c.Doubtful = (c.Verdict == dedup.Exact || c.Verdict == dedup.Near) && c.LeftDiffers > rule.MinWords
	c.Remark = c.remark()
	c.Passages = c.passages(s)
	return c
}

// left sets LeftDiffers and leftSays. For pages of a store, only the hashes and word counts of the
// left-out texts are known. If the hashes differ, left sets LeftDiffers to the larger count, which
// is an upper bound on the number of words that differ.
func (c *sideBySide) left(p pair) {
	a, b := p.records[0], p.records[1]
	if a == nil || b == nil {
		c.LeftDiffers = leftDiffers(p.docs)
		c.leftSays = "the pages differ in text that was not extracted (" + report.Counted(c.LeftDiffers, "word") + ")"
		return
	}
	if a.LeftHash != b.LeftHash {
		c.LeftDiffers = max(a.LeftWords, b.LeftWords)
	}
	c.leftSays = fmt.Sprintf("the texts that were not extracted are different (%s and %s)", report.Grouped(a.LeftWords), report.Counted(b.LeftWords, "word"))
}

// leftDiffers returns the number of words that extraction left out of one page but not the other.
// It counts in both directions and returns the larger count.
func leftDiffers(docs [2]*extract.Document) int {
	var only [2]int
	count := map[string]int{}
	for i, sign := range []int{1, -1} {
		var t dedup.Text
		t.ReadString(docs[i].Left)
		for k := range t.Len() {
			count[t.Token(k)] += sign
		}
	}
	for _, n := range count {
		if n > 0 {
			only[0] += n
		} else {
			only[1] -= n
		}
	}
	return max(only[0], only[1])
}

func (s *side) read(name string, doc *extract.Document) {
	s.canon.Locate()
	s.canon.ReadString(doc.Text)
	s.Name, s.Title, s.Lang, s.text = name, doc.Title, doc.Lang, doc.Text
	s.Characters, s.Words, s.Hash = utf8.RuneCount(s.canon.Bytes()), s.canon.Len(), s.canon.Hash()
}

// span returns the byte range of the given number of words in the side's text, beginning with the
// word at index first.
func (s *side) span(first, words int) dedup.Span {
	return dedup.Span{Start: s.canon.Span(first).Start, End: s.canon.Span(first + words - 1).End}
}

// passages returns the runs of words that both pages contain. Each has at least as many words as a
// shingle, or [dedup.DefaultShingle] words if shingles consist of characters.
func (c *sideBySide) passages(s dedup.Shingling) []passage {
	k := s.K
	if s.Unit == dedup.Chars {
		k = dedup.DefaultShingle
	}
	all := []passage{}
	for _, p := range dedup.Passages(&c.A.canon, &c.B.canon, k) {
		at := c.A.span(p.A, p.Tokens)
		all = append(all, passage{p.A, p.B, p.Tokens, c.A.text[at.Start:at.End]})
	}
	return all
}

func (c *sideBySide) verdict(rule dedup.Rule) dedup.VerdictKind {
	switch {
	case c.A.Words == 0 || c.B.Words == 0:
		return dedup.Thin
	case c.A.Hash == c.B.Hash:
		return dedup.Exact
	case rule.Short(c.A.Words) || rule.Short(c.B.Words):
		return dedup.Thin
	case rule.Contained > 0 && c.contains(rule), rule.Contained == 0 && c.Resemblance >= rule.Similarity:
		return dedup.Near
	}
	return dedup.Unique
}

func (c *sideBySide) contains(rule dedup.Rule) bool {
	var t dedup.Text
	a, b := dedup.Runs(&t, c.A.text), dedup.Runs(&t, c.B.text)
	_, aInB := rule.Contains(a, b)
	_, bInA := rule.Contains(b, a)
	return aInB || bInA
}

// remark returns a sentence about something that the verdict does not express, such as one page
// being an excerpt of the other. It returns "" if there is nothing to say.
func (c *sideBySide) remark() string {
	const whole = 0.9 // minimum share of a page's text in the other page for the page to count as an excerpt
	switch {
	case c.A.Words == 0 && c.B.Words == 0:
		return "neither A nor B has any text"
	case c.A.Words == 0:
		return "A has no text"
	case c.B.Words == 0:
		return "B has no text"
	case c.Verdict == dedup.Thin:
		return "use --min-words 0 to compare them"
	case c.Doubtful:
		return "doubtful, because " + c.leftSays
	case c.Verdict == dedup.Exact || c.Verdict == dedup.Near && c.Resemblance >= c.Similarity:
		return ""
	case c.AInB >= whole && c.AInB > c.BInA:
		return "A is an excerpt of B"
	case c.BInA >= whole:
		return "B is an excerpt of A"
	}
	return ""
}
