package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
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

// # Changes
//
// A passage that stands on several pages is one document, so a list of changed pages does not tell
// which passages changed. So an export with a [PassageList] compares all passages with those that the
// last one wrote. It writes what is new, changed or gone, whatever happened to the store, and
// whatever the options are now.
//
// The list has the id of each passage, and a sum of the hashes of its occurrences. The hashes
// cover all fields but fetched_at, which changes for all passages of a page if one is edited. The
// sum 0 means that the reader may have any state of the passage. Before the first passage is
// written, the list is stored with the sum 0 for each passage to write, and at the end with what
// the reader has then. So if an export fails or is killed, the next one writes its passages again. A
// passage that an index refuses keeps the sum 0. So does a passage whose pages change during an
// export.

// A Passage is a part of a page's main text, as an index of passages receives it. SCHEMA.md describes
// each field. The tag "index" names a type in the variable indexTypes.
type Passage struct {
	ID          dedup.Hash   `json:"id" index:"id"`
	URL         string       `json:"url" index:"keyword"`
	PageID      dedup.Hash   `json:"page_id" index:"id"`
	Host        string       `json:"host,omitempty" index:"keyword"`
	Title       string       `json:"title,omitempty" index:"text"`
	Lang        string       `json:"lang,omitempty" index:"id"`
	FetchedAt   time.Time    `json:"fetched_at,omitzero" index:"date"`
	PublishedAt string       `json:"published_at,omitempty" index:"date"`
	Headings    []string     `json:"headings,omitempty" index:"text"`
	Position    int          `json:"position" index:"integer"`
	Words       int          `json:"words" index:"integer"`
	Hash        dedup.Hash   `json:"hash" index:"id"`
	Text        string       `json:"text" index:"text"`
	AlsoAt      []Occurrence `json:"also_at,omitempty" index:"occurrences"`

	Change store.ChangeKind `json:"change,omitempty" index:"id"`
}

// An Occurrence is one place where a passage stands.
type Occurrence struct {
	URL      string     `json:"url"`
	PageID   dedup.Hash `json:"page_id"`
	Position int        `json:"position"`
}

// A PassageList stores which passages the reader of an export has.
type PassageList struct {
	Last []byte                                  // the stored list; nil means that the reader has no passages
	Save func(write func(io.Writer) error) error // replaces the stored list
}

// In a list, the 16 bytes of the id and the 8 bytes of the sum of each passage follow listHead.
const listHead = "skink passages\n"

// Passages is an export of the passages of a store. A passage that occurs more than once is written
// once, with its other places.
//
// An export reads the pages once if no passage differs from the list. Otherwise it reads them twice,
// or three times if a passage to write repeats. It needs 32 bytes of memory for each passage, 24 bytes
// for each passage in the list, and about a hundred bytes for each place of a passage that repeats.
type Passages struct {
	Store   store.Reader
	Options              // selects the pages; the other fields are not used
	Words   int          // maximum number of words in a passage
	List    *PassageList // nil means that all passages are written

	all     []listed                    // passages of the store and of the list, by id
	places  map[dedup.Hash][]Occurrence // maps the id of each repeated passage to write to its places, in a fixed order
	refused map[dedup.Hash]bool         // ids of the passages that an index has refused
}

type listed struct {
	id  dedup.Hash
	sum uint64 // sum of sumOf for the occurrences in the store, with flags as the lowest bits
	met uint64 // the same sum when the passage was written; for a passage that is gone, 1 until it was written
}

const (
	same  uint64 = 1 << iota // the list has the passage as it is now
	known                    // the list has the passage in another state, or in any state
	flags = same | known
)

// Write writes the passages to w as JSON Lines, and returns their number. Call Keep when the output
// is in its place.
func (e *Passages) Write(ctx context.Context, w io.Writer) (passages int, err error) {
	out := bufio.NewWriterSize(w, bufferSize)
	write := lineWriter[any](out)
	err = e.export(ctx, func(p *Passage) error {
		passages++
		line := any(p)
		if p.Change == store.Gone {
			line = &Document{ID: p.ID, Change: p.Change}
		}
		return write(&line)
	})
	if err = cmp.Or(err, out.Flush()); err != nil {
		return passages, fmt.Errorf("write passages: %w", err)
	}
	return passages, nil
}

// Keep stores in the list which passages the reader has.
func (e *Passages) Keep() error {
	if e.List == nil {
		return nil
	}
	return e.List.Save(func(w io.Writer) error {
		out := bufio.NewWriterSize(w, bufferSize)
		out.WriteString(listHead) // errors remain until Flush
		for _, l := range e.all {
			sum := l.sum &^ flags
			if l.sum&same == 0 && (l.met != sum || e.refused[l.id]) {
				sum = 0
			} else if sum == 0 { // it is gone
				continue
			}
			out.Write(binary.BigEndian.AppendUint64(l.id[:], sum))
		}
		return out.Flush()
	})
}

// export calls write for each passage that differs from the list. The function write must not keep
// its argument.
func (e *Passages) export(ctx context.Context, write func(*Passage) error) error {
	if err := e.compare(ctx); err != nil || !slices.ContainsFunc(e.all, func(l listed) bool { return l.sum&same == 0 }) {
		return err
	}
	err := e.Keep()
	if err == nil && len(e.places) > 0 {
		err = e.each(ctx, func(p *Passage) error {
			if at, repeated := e.places[p.ID]; repeated {
				e.places[p.ID] = append(at, Occurrence{p.URL, p.PageID, p.Position})
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, at := range e.places {
		slices.SortFunc(at, func(x, y Occurrence) int { return cmp.Or(cmp.Compare(x.URL, y.URL), x.Position-y.Position) })
	}
	err = e.each(ctx, func(p *Passage) error {
		i, found := search(e.all, p.ID)
		if !found || e.all[i].sum&same != 0 {
			return nil
		}
		e.all[i].met += sumOf(p)
		if at := e.places[p.ID]; at != nil {
			if at[0] != (Occurrence{p.URL, p.PageID, p.Position}) {
				return nil
			}
			p.AlsoAt = at[1:]
		}
		switch {
		case e.all[i].sum&known != 0:
			p.Change = store.Changed
		case e.List != nil:
			p.Change = store.New
		}
		return write(p)
	})
	for i := range e.all {
		if err == nil && e.all[i].sum == known {
			e.all[i].met = 0
			err = write(&Passage{ID: e.all[i].id, Change: store.Gone})
		}
	}
	return err
}

// compare finds all passages, and those that differ from the list.
func (e *Passages) compare(ctx context.Context) error {
	err := e.each(ctx, func(p *Passage) error {
		e.all = append(e.all, listed{id: p.ID, sum: sumOf(p)})
		return nil
	})
	if err != nil {
		return err
	}
	byID := func(x, y listed) int { return bytes.Compare(x.id[:], y.id[:]) }
	slices.SortFunc(e.all, byID)
	n := 0
	e.places = map[dedup.Hash][]Occurrence{}
	for _, l := range e.all {
		if n > 0 && e.all[n-1].id == l.id {
			e.all[n-1].sum += l.sum
			e.places[l.id] = nil
			continue
		}
		e.all[n] = l
		n++
	}
	e.all = e.all[:n]
	if e.List == nil || e.List.Last == nil {
		return nil
	}
	lines, ok := bytes.CutPrefix(e.List.Last, []byte(listHead))
	if !ok || len(lines)%24 != 0 {
		return errors.New("the cursor file is not one of passages: choose another file for --cursor")
	}
	for line := range slices.Chunk(lines, 24) {
		id, sum := dedup.Hash(line[:16]), binary.BigEndian.Uint64(line[16:])
		switch i, found := search(e.all[:n], id); {
		case !found:
			e.all = append(e.all, listed{id: id, sum: known, met: 1})
		case sum == e.all[i].sum:
			e.all[i].sum |= same
			delete(e.places, id)
		default:
			e.all[i].sum |= known
		}
	}
	slices.SortFunc(e.all, byID)
	e.List.Last = nil
	return nil
}

func search(all []listed, id dedup.Hash) (int, bool) {
	return slices.BinarySearchFunc(all, id, func(l listed, id dedup.Hash) int { return bytes.Compare(l.id[:], id[:]) })
}

// sumOf returns a hash of all fields of an occurrence but the time at which its page was fetched. The bits of
// flags are 0.
func sumOf(p *Passage) uint64 {
	of := *p
	of.FetchedAt, of.Text = time.Time{}, "" // of.Hash stands for the text
	line, _ := appendLine(nil, of)          // fails for no passage
	hash := dedup.HashOf(line)
	return binary.BigEndian.Uint64(hash[:]) &^ flags
}

// each calls visit for each passage, in page order. The function visit must not keep its argument,
// but may keep the argument's strings.
func (e *Passages) each(ctx context.Context, visit func(*Passage) error) error {
	clear(e.Left) // each pass over the pages counts them again
	for page, err := range e.gate().Pages(ctx, e.Store, store.WantText) {
		d, err := e.document(page, err)
		if err != nil {
			return err
		}
		for i, part := range passage.Split(blocks(page.Content()), e.Words) {
			p := &Passage{
				ID: part.ID, URL: d.URL + (&url.URL{Fragment: part.Fragment}).String(), PageID: d.ID, Host: frontier.HostOf(d.URL), Title: d.Title, Lang: d.Lang, FetchedAt: d.FetchedAt, PublishedAt: d.PublishedAt, Headings: part.Path,
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
