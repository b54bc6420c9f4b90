package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"skink/dedup"
	"skink/frontier"
	"skink/report"
	"skink/report/audit"
	"skink/store"
)

type pageView struct {
	*store.Record
	Link     string // the crawled URL; "" if a browser cannot open it
	Kept     bool   // whether the store has the page's text
	Pictured bool   // whether the archive has a picture of the page
	Blocks   []string
	Rest     int // number of bytes of the text that are not shown
	Leader   *store.Record
	Leads    int // number of duplicates of this page
	Cluster  dedup.Hash
	Nearest  []neighbour
	Nearness string // why Nearest is empty
	Rule     dedup.Rule
	Findings []*audit.Finding // of the last audit
	In       *inView          // pages that link to this page; nil if the store has no links
	Out      []store.Link
	// number of links that are not shown
	OutRest int
}

const linksShown = 200

type neighbour struct {
	*store.Record
	Alike float64 // resemblance, 0 to 1
	Exact bool    // whether Alike was computed from the texts rather than estimated
}

// textShown is the maximum number of bytes of a page's text that are shown. The limit keeps the
// HTML below a megabyte.
const textShown = 300 << 10

func (v *View) onePage(ctx context.Context, r *http.Request) (*screen, error) {
	p := &pageView{Rule: v.opt.Rule}
	err := v.opt.Store.Read(ctx, func(s store.Reader) error {
		c, err := content(ctx, s, r.PathValue("id"), store.WantText|store.WantSketch|store.WantLinks)
		if err != nil {
			return err
		}
		p.Record, p.Link, p.Kept = &c.Record, report.LinkTo(c.Record.URL).Link, c.Kept
		p.Pictured = v.opt.Picture != nil && c.Record.Rendered && v.opt.Picture(ctx, s, &c.Record) != nil
		if a := v.auditing.now().result; a != nil {
			p.Findings = a.Of(p.Record)
		}
		p.Blocks, p.Rest = blocksOf(c.Text)
		p.Out = c.Links[:min(len(c.Links), linksShown)]
		p.OutRest = len(c.Links) - len(p.Out)
		p.Cluster = cmp.Or(p.Record.Leader, p.ID)
		v.index.look(func(t *rows) {
			if at, ok := t.ledBy[p.Cluster]; ok {
				p.Leads = int(t.clusters[at].members)
			}
		})
		if p.Follows() {
			all, err := records(ctx, s, []dedup.Hash{p.Record.Leader})
			if err != nil {
				return err
			}
			if len(all) > 0 {
				p.Leader = all[0]
			}
		}
		if p.In, err = v.inwardOf(ctx, s, p.Record); err != nil {
			return err
		}
		p.Nearest, p.Nearness, err = v.nearest(ctx, s, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	title := strings.TrimSpace(report.Clip(p.Title, 300))
	again := p.In != nil && p.In.Making && p.In.None
	return &screen{name: "one page", subject: cmp.Or(title, p.URL), again: again, Content: p}, nil
}

func content(ctx context.Context, s store.Reader, name string, want store.Want) (*store.Content, error) {
	var id dedup.Hash
	if err := id.UnmarshalText([]byte(name)); err != nil {
		url, err := frontier.Canonical(name)
		if err != nil {
			return nil, missing("There is no page " + name + ".")
		}
		id = dedup.Hash(frontier.ID(url))
	}
	pages, err := s.Pages(ctx, []dedup.Hash{id}, want)
	if err != nil {
		return nil, err
	}
	if pages[0] == nil {
		return nil, missing("The store has no page " + name + ".")
	}
	return pages[0], nil
}

// blocksOf returns the lines of the first textShown bytes of a text, and the number of remaining
// bytes.
func blocksOf(text string) (blocks []string, rest int) {
	shown := strings.ToValidUTF8(text[:min(len(text), textShown)], "")
	for line := range strings.Lines(shown) {
		blocks = append(blocks, strings.TrimRight(line, "\n"))
	}
	return blocks, len(text) - len(shown)
}

// These limit the search for similar pages: the number of pages compared by sketch, the number of
// these compared by text, and the lowest resemblance shown.
const (
	nearBySketch = 64
	nearByText   = 12
	minNear      = 0.1
)

// nearest returns the pages outside c's cluster that are most similar to c, including pages that
// are not similar enough to be duplicates. It returns only the leaders of other clusters, not their
// members. If there are no such pages, why is the reason.
func (v *View) nearest(ctx context.Context, s store.Reader, c *store.Content) (all []neighbour, why string, err error) {
	switch {
	case c.Record.Kind != store.Page:
		return nil, "", nil
	case c.Sketch == nil:
		return nil, "The page has no words to compare.", nil
	}
	var ids []dedup.Hash
	v.index.look(func(t *rows) { ids = t.nearest(newFingerprint(c.Sketch), c.Record.ID, c.Record.Leader) })
	pages, err := s.Pages(ctx, ids, store.WantSketch)
	if err != nil {
		return nil, "", err
	}
	for _, p := range pages {
		if p == nil || p.Sketch == nil {
			continue
		}
		if alike := dedup.Estimate(c.Sketch, p.Sketch); alike >= minNear {
			all = append(all, neighbour{&p.Record, alike, false})
		}
	}
	slices.SortStableFunc(all, func(a, b neighbour) int { return cmp.Compare(b.Alike, a.Alike) })
	all = all[:min(len(all), nearByText)]
	if len(all) == 0 {
		return nil, "No other page is similar.", nil
	}
	return all, "", v.measure(ctx, s, c, all)
}

// measure replaces the estimated resemblances with exact ones for pages whose text is in the store.
func (v *View) measure(ctx context.Context, s store.Reader, c *store.Content, all []neighbour) error {
	if !c.Kept {
		return nil
	}
	ids := make([]dedup.Hash, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	pages, err := s.Pages(ctx, ids, store.WantText)
	if err != nil {
		return err
	}
	own := v.shingles(c)
	for i, p := range pages {
		if p != nil && p.Kept {
			all[i].Alike, all[i].Exact = dedup.Resemblance(own, v.shingles(p)), true
		}
	}
	slices.SortStableFunc(all, func(a, b neighbour) int { return cmp.Compare(b.Alike, a.Alike) })
	return nil
}

func (v *View) shingles(c *store.Content) dedup.Set {
	var t dedup.Text
	v.read(&t, c)
	return v.opt.Rule.Set(&t)
}

// nearest returns the IDs of the pages whose fingerprints are most similar to f. It leaves out
// page, leader and all duplicates.
func (t *rows) nearest(f fingerprint, page, leader dedup.Hash) []dedup.Hash {
	type near struct {
		row   int
		alike float64
	}
	var best []near
	least := 0.0
	for c, in := range t.chunks {
		for i := range in.n {
			r := &in.rows[i]
			if r.flags&(dead|sketched) != sketched || r.cluster != 0 {
				continue
			}
			alike := f.alike(&in.prints[i])
			if alike <= least || r.id == page || r.id == leader {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, alike, func(n near, x float64) int { return cmp.Compare(x, n.alike) })
			best = slices.Insert(best, at, near{c*chunkRows + i, alike})
			if len(best) > nearBySketch {
				best = best[:nearBySketch]
				least = best[nearBySketch-1].alike
			}
		}
	}
	ids := make([]dedup.Hash, len(best))
	for i, n := range best {
		ids[i] = t.at(n.row).id
	}
	return ids
}

// picture sends the picture of a page, which a browser shows as an image only.
func (v *View) picture(w http.ResponseWriter, r *http.Request) {
	var image []byte
	err := v.opt.Store.Read(r.Context(), func(s store.Reader) error {
		c, err := content(r.Context(), s, r.PathValue("id"), store.WantRecord)
		if err == nil {
			image = v.opt.Picture(r.Context(), s, &c.Record)
		}
		return err
	})
	if err != nil || image == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(image) // an error means that the browser closed the connection
}
