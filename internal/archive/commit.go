package archive

import (
	"cmp"
	"context"
	"errors"

	"skink/crawler"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/internal/ingest"
	"skink/store"
	"skink/warc"
)

// # Consistency with the store
//
// The response for a page is written to the archive before the page is committed to the store, and
// the page's record in the store contains the position of the response. So each page in the store
// has its response in the archive. If the process crashes in between, the archive has a response
// without a page in the store, and the page will be fetched again. Responses are written in the
// order their pages are committed. So after a crash, the archive can be truncated after the
// response for the last committed page.
//
// Pages are written and committed in groups, because committing many costs little more than
// committing one. A page that arrives during a commit waits; see package batcher. When the commit is done,
// the waiting pages form the next group: all responses are written, and all pages are committed in
// the same order. Brief pages without a change wait for each other, as without an archive. If the verdict on a page is stale, the store refuses the page and all later pages
// of the group. Then their responses are removed from the file, the later pages are written and
// committed again, and the stale page is judged again.
//
// A crash also loses responses that do not belong to pages, if they come after the response for the
// last committed page: responses for robots.txt, and failed attempts that were retried. The crawl
// requests robots.txt again when it resumes.

// A call is a page waiting to be committed, with the records of its response.
type call struct {
	entry *store.Entry
	packed
	again   func(*original) (packed, error) // returns the records of the response as a repetition of another; nil if they must be those in packed
	out     packed                          // what is written: packed, or the result of again
	private bool                            // whether the response belongs to the private volume
	about   []byte                          // records about the page that are written before those of the response
	lead    []byte                          // all records that are written before those of the response
	kept    bool                            // the page's record keeps the position of an earlier response, because this visit found the page unchanged

	outcome store.Outcome
	err     error
}

// Answer returns a function that writes the response for page to the archive, and commits the
// page's entry to the store.
func (a *Archive) Answer(page *crawler.Page) ingest.EntryWriter {
	var answer packed
	var failed error
	kind := corpus.IsPage
	if page.Item.Kind == frontier.Requisite {
		kind = corpus.IsRequisite
	}
	if page.Raw != nil {
		answer, failed = a.answer(page.Raw, fieldsOf(page, kind, ""))
	}
	return func(ctx context.Context, e *store.Entry) (store.Outcome, error) {
		all, err := answer, failed
		var about []byte
		if isFound(page, &e.Record) && !a.Has(&e.Record) { // the earlier response was lost in a power failure, or its file was deleted; this response replaces it
			e.Record.Archive, e.Record.Answered = store.Archived{}, store.Archived{}
		}
		if profile := a.repeats(answer, page, &e.Record); profile != "" && err == nil {
			first := a.original(&e.Record)
			if first.url != e.Record.URL && profile == warc.ProfileIdentical { // the records of earlier visits may be lost
				kind = cmp.Or(copied[kind], kind)
			}
			if page.NotModified {
				first.mime = e.Record.ContentType
			}
			all, err = a.revisit(answer, page.Raw, fieldsOf(page, kind, ""), profile, first)
		} else if err == nil {
			switch r := &e.Record; {
			case page.Raw == nil || page.Problem != "" || kind == corpus.IsRequisite:
			case r.Visit == store.Failed: // the server responded, but the visit counts as failed, for example because of an error page
				all, err = a.answer(page.Raw, fieldsOf(page, corpus.NotPage, ""))
			case crawler.Problem(r.Problem).Answered():
				all, err = a.answer(page.Raw, fieldsOf(page, r.Problem, r.Detail))
			}
			if err == nil {
				all, err = a.with(all, page, &e.Record)
			}
			if err == nil {
				about, err = a.about(page, all.id)
			}
		}
		if err == nil {
			all, err = a.withPictures(all, page)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return store.Stale, err
		}
		c := &call{entry: e, packed: all, about: about, private: page.Private, kept: isKept(&e.Record) || page.NotModified}
		if !c.kept && page.Problem == "" && all.id == answer.id && e.Record.Visit != store.Failed && a.mayRepeat(page.Raw, &all) {
			c.again = func(first *original) (packed, error) {
				return a.revisit(all, page.Raw, fieldsOf(page, cmp.Or(copied[kind], kind), ""), warc.ProfileIdentical, first)
			}
		}
		if page.Brief && e.Touch {
			_, err = a.brief.Ask(ctx, c)
		} else {
			_, err = a.pages.Ask(context.WithoutCancel(ctx), []*call{c})
		}
		return c.outcome, cmp.Or(c.err, err)
	}
}

// copied has the kind of a page's record whose payload is in another record.
var copied = map[string]string{corpus.IsPage: corpus.IsCopy}

// Has reports whether the archive has the response for a record. If not, the server must not be asked
// whether the page has changed, because status 304 (Not Modified) brings no body to archive. Files of
// other workers may be on other machines, so Has trusts those that are not in the folder.
func (a *Archive) Has(r *store.Record) bool {
	if !isKept(r) {
		return false
	}
	first := a.recordAt(r.Archive)
	if first == nil && a.isOther(r.Archive.File) {
		return !a.isClosed(r.Archive.File)
	}
	return first != nil && (first.URI() == r.URL || r.Archive.Digest != "" && first.Header.Get("WARC-Payload-Digest") == r.Archive.Digest)
}

// original returns the record to which the revisit records of a page refer.
func (a *Archive) original(r *store.Record) *original {
	if first := a.recordAt(r.Archive); first != nil {
		return &original{id: first.ID(), url: first.URI(), date: first.Date(), at: r.Archive}
	}
	return &original{url: r.URL, date: r.FetchedAt, at: r.Archive}
}

func isKept(e *store.Record) bool { return e.Archive != store.Archived{} }

// isFound reports whether a visit received the unchanged page in full again, so its response can
// replace the earlier one. A response with status 304 (Not Modified) does not contain the page.
func isFound(page *crawler.Page, e *store.Record) bool {
	return isKept(e) && e.Visit == store.Same && page.Raw != nil && !page.NotModified && page.Problem == ""
}

// repeats returns the WARC-Profile of the revisit record for a response that repeats an earlier
// one. It returns "" if the response must be stored in full.
func (a *Archive) repeats(answer packed, page *crawler.Page, r *store.Record) string {
	switch {
	case page.Raw == nil || !isKept(r):
		return ""
	case page.NotModified:
		return warc.ProfileNotModified
	case !a.opt.Whole && answer.digest == r.Archive.Digest && page.Problem == "" && page.Location == "":
		return warc.ProfileIdentical
	}
	return ""
}

// serve writes and commits the pages of calls, which get the outcomes. On failure, all pages that were not
// committed get the error.
func (a *Archive) serve(ctx context.Context, calls []*call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(calls) > 0 && a.failed == nil {
		done, err := a.together(ctx, calls)
		a.fail(err)
		calls = calls[done:]
	}
	for _, c := range calls {
		c.err = a.failed
	}
}

// together writes and commits the pages of calls as one group, until a file is full or a verdict is
// stale. It returns the number of pages that got an outcome, including the stale one.
func (a *Archive) together(ctx context.Context, calls []*call) (served int, err error) {
	var entries []*store.Entry
	added := map[*volume][]byte{}
	fresh := map[string]*original{} // originals of this group, by the name of their payload
	latest, told := a.latest, map[*volume]bool{a.public: a.public.told, a.private: a.private.told}
	for _, c := range calls {
		v := a.volume(c.private)
		if v.full() || v.at+int64(len(added[v])) >= v.size() {
			if len(entries) > 0 {
				break
			}
			if err := v.next(ctx); err != nil {
				return 0, err
			}
			latest, told[v] = v, true
		}
		if c.lead = c.about; latest != v || !told[v] {
			info, err := v.info(nil, !told[v])
			if err != nil {
				return 0, err
			}
			latest, told[v], c.lead = v, true, append(info, c.about...)
		}
		if err := v.place(ctx, c, v.at+int64(len(added[v])+len(c.lead)), fresh); err != nil {
			return 0, err
		}
		entries = append(entries, c.entry)
		added[v] = append(append(added[v], c.lead...), c.out.records...)
	}
	for v, records := range added {
		if err := v.write(records); err != nil {
			return 0, err
		}
	}
	outcomes, err := a.store.Commit(ctx, entries)
	if err != nil {
		return 0, err
	}
	for i, outcome := range outcomes {
		c := calls[i]
		c.outcome = outcome
		if outcome == store.Stale { // remove what was written after the last record that counts
			for v := range added {
				err = errors.Join(err, v.file.Truncate(v.at))
			}
			return i + 1, err
		}
		v := a.volume(c.private)
		a.latest, v.told = v, true
		v.at += int64(len(c.lead))
		v.wrote(c.out)
	}
	return len(entries), nil
}

// place decides which records of a call are written, and stores the position of the first in the page's
// record. fresh has the originals that precede them in the group.
func (v *volume) place(ctx context.Context, c *call, offset int64, fresh map[string]*original) (err error) {
	var first *original
	name, r := "", &c.entry.Record
	c.out, c.entry.Named = c.packed, nil
	if c.again != nil {
		name = v.payloadName(c.digest)
		if first = fresh[name]; first == nil {
			first, err = v.earlier(ctx, c.digest)
		}
		if err == nil {
			c.out, first, err = c.orRevisit(first, c.again)
		}
	}
	at := store.Archived{File: v.mark.name(), Offset: offset, Length: c.out.length, Digest: c.out.digest}
	switch {
	case c.kept:
		r.Answered = at
	case first != nil:
		r.Archive, r.Answered = first.at, at
	default:
		r.Archive, r.Answered = at, store.Archived{}
		if c.again != nil {
			fresh[name], c.entry.Named = &original{id: c.id, url: c.index.URL, date: c.index.Date, at: at}, map[string][]byte{name: named(at)}
		}
	}
	return err
}
