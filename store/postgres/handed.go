package postgres

import (
	"sync"

	"github.com/jackc/pgx/v5"

	"skink/base/lru"
	"skink/dedup"
	"skink/frontier"
	"skink/store"
)

// A runPage is a page of a run, with the record that its URL is visited again with.
type runPage struct {
	id      id            // of the row in the table visit
	written *store.Record // of that row
	visit   []byte        // last visit, see packVisit
	asked   []byte
	flags   int16 // element of run.wanted
	read    bool  // whether Pages has returned the page
}

const runPageSQL = "v.id, v.record::text, u.visit, r.asked, u.wanted"

// scanRunPage scans the columns first, and then those of runPageSQL.
func scanRunPage(row pgx.Row, first ...any) (*runPage, error) {
	p := &runPage{}
	var record []byte
	err := row.Scan(append(first, &p.id, &record, &p.visit, &p.asked, &p.flags)...)
	if err == nil {
		p.written, err = store.UnpackRecord(record)
	}
	return p, err
}

// record returns the record after the last visit.
func (p *runPage) record() (r store.Record, err error) {
	r = *p.written
	return r, update(&r, p.visit)
}

// item returns the item of the page.
func (p *runPage) item() (it frontier.Item, err error) {
	r, err := p.record()
	return revisit(&r, p.asked, p.flags), err
}

// handedOut is a cache of pages whose URLs were handed out. A visit reads its page, and the commit
// reads it again, and decoding a record takes longer than anything else that the store does in a visit
// without a change. Pages returns each of them once: if the record was replaced in the meantime, the
// commit of the visit is stale, and then the page is read from the server. The zero value is empty.
type handedOut struct {
	mu    sync.Mutex
	pages *lru.Cache[dedup.Hash, *runPage] // guarded by mu
}

// maxHanded is the maximum number of pages that a process keeps. They take about 10 MB.
const maxHanded = 4096

func (h *handedOut) add(p *runPage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pages == nil {
		h.pages = lru.New[dedup.Hash](maxHanded, func(*runPage) int { return 1 })
	}
	h.pages.Take(p.written.ID)
	h.pages.Put(p.written.ID, p)
}

// forget removes the page with an id, because a commit may have changed it.
func (h *handedOut) forget(id dedup.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pages != nil {
		h.pages.Take(id)
	}
}

// get returns the page with an id, or nil. If once is true, get does not return the page of an earlier
// such call.
func (h *handedOut) get(id dedup.Hash, once bool) *runPage {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pages == nil {
		return nil
	}
	p, _ := h.pages.Get(id)
	if p == nil || once && p.read {
		return nil
	}
	p.read = p.read || once
	return p
}

// read returns the contents of pages of which only the records are wanted, or nil if any of them was not
// handed out.
func (h *handedOut) read(ids []dedup.Hash, want store.Want) []*store.Content {
	if want != store.WantRecord || len(ids) != 1 {
		return nil
	}
	if p := h.get(ids[0], true); p != nil {
		if r, err := p.record(); err == nil {
			return []*store.Content{{Record: r}}
		}
	}
	return nil
}
