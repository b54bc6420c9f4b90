package feed

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"skink/dedup"
	"skink/extract/passage"
	"skink/frontier"
	"skink/store"
)

// Limits on the number of words in a passage.
const (
	PassageWords    = passage.DefaultWords // maximum number of words in a passage, unless the user chooses another limit
	MinPassageWords = passage.MinWords     // smallest limit that the user can choose
)

// A Passage is a part of a page's main text, as an index of passages receives it. SCHEMA.md describes
// each field.
type Passage struct {
	ID          dedup.Hash   `json:"id"`
	URL         string       `json:"url"`
	PageID      dedup.Hash   `json:"page_id"`
	Host        string       `json:"host,omitempty"`
	Title       string       `json:"title,omitempty"`
	Lang        string       `json:"lang,omitempty"`
	FetchedAt   time.Time    `json:"fetched_at,omitzero"`
	PublishedAt string       `json:"published_at,omitempty"`
	Headings    []string     `json:"headings,omitempty"`
	Position    int          `json:"position"`
	Words       int          `json:"words"`
	Hash        dedup.Hash   `json:"hash"`
	Text        string       `json:"text"`
	AlsoAt      []Occurrence `json:"also_at,omitempty"`
}

// An Occurrence is one place where a passage stands.
type Occurrence struct {
	URL      string     `json:"url"`
	PageID   dedup.Hash `json:"page_id"`
	Position int        `json:"position"`
}

// WritePassages writes the passages of the pages of s to w as JSON Lines. The argument most is the
// maximum number of words in a passage. A passage that occurs more than once is written once, with
// its other places. It uses only the fields of opt that select pages. It returns the number of
// passages that it wrote.
//
// It reads the pages twice, and a third time if a passage repeats. It needs 8 bytes of memory for
// each passage, and about a hundred bytes for each place of a passage that repeats.
func WritePassages(ctx context.Context, w io.Writer, s store.Reader, opt Options, most int) (passages int, err error) {
	if err := opt.check(); err != nil {
		return 0, err
	}
	e := &passageExport{s: s, opt: opt, most: most}
	if err := e.findRepeated(ctx); err != nil {
		return 0, fmt.Errorf("write passages: %w", err)
	}
	out := bufio.NewWriterSize(w, bufferSize)
	write := lineWriter[Passage](out)
	err = e.each(ctx, func(p *Passage) error {
		if places := e.places[p.ID]; len(places) > 1 {
			if e.written[p.ID] {
				return nil
			}
			e.written[p.ID] = true
			p.AlsoAt = slices.DeleteFunc(slices.Clone(places), func(at Occurrence) bool { return at.PageID == p.PageID && at.Position == p.Position })
		}
		passages++
		return write(p)
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return passages, fmt.Errorf("write passages: %w", err)
	}
	return passages, nil
}

type passageExport struct {
	s       store.Reader
	opt     Options
	most    int
	places  map[dedup.Hash][]Occurrence // maps the id of each repeated passage to all its places
	written map[dedup.Hash]bool         // ids of the repeated passages that have been written
}

func (e *passageExport) findRepeated(ctx context.Context) error {
	var all []uint64
	err := e.each(ctx, func(p *Passage) error {
		all = append(all, short(p.ID))
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(all)
	repeated := map[uint64]bool{}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			repeated[all[i]] = true
		}
	}
	all = nil
	e.places, e.written = map[dedup.Hash][]Occurrence{}, map[dedup.Hash]bool{}
	if len(repeated) == 0 {
		return nil
	}
	return e.each(ctx, func(p *Passage) error {
		if repeated[short(p.ID)] {
			e.places[p.ID] = append(e.places[p.ID], Occurrence{p.URL, p.PageID, p.Position})
		}
		return nil
	})
}

// short returns the first 64 bits of an ID. Passages whose IDs agree in these bits are compared by
// their full IDs.
func short(id dedup.Hash) uint64 { return binary.BigEndian.Uint64(id[:8]) }

// each calls visit for each passage, in page order. The function visit must not keep its argument,
// but may keep the argument's strings.
func (e *passageExport) each(ctx context.Context, visit func(*Passage) error) error {
	clear(e.opt.Left) // each pass over the pages counts them again
	for page, err := range e.opt.gate().Pages(ctx, e.s, store.WantText) {
		var d *Document
		if err == nil {
			d, err = e.opt.document(page)
		}
		if err != nil {
			return err
		}
		for i, part := range passage.Split(blocks(page.Content()), e.most) {
			p := &Passage{
				ID: part.ID, URL: at(d.URL, part.Fragment), PageID: d.ID, Host: frontier.HostOf(d.URL), Title: d.Title, Lang: d.Lang, FetchedAt: d.FetchedAt, PublishedAt: d.PublishedAt, Headings: part.Path,
				Position: i, Words: len(part.Words), Hash: dedup.HashOf([]byte(part.Text)), Text: part.Text,
			}
			if err := visit(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func blocks(page *store.Content) []passage.Block {
	lines := strings.Split(page.Text, "\n")
	all := make([]passage.Block, len(lines))
	for i, line := range lines {
		all[i].Text = line
	}
	for _, h := range page.Headings {
		if h.Line < len(all) {
			all[h.Line].Level, all[h.Line].ID = h.Level, h.ID
		}
	}
	return all
}

// at returns the URL of a page with the given fragment, escaped.
func at(page, fragment string) string {
	if fragment == "" {
		return page
	}
	return page + "#" + (&url.URL{Fragment: fragment}).EscapedFragment()
}
