package archive

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"time"

	"skink/crawler/wire"
	"skink/dedup"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// # Equal payloads are stored once
//
// A response with a payload that the archive has becomes a revisit record, even if the earlier response
// is of another URL, unless the response is so short that the revisit record would be longer. The
// store keeps the position of each payload, as a named value under its digest. A page is committed
// together with that value. An entry of this index is only a hint: before a revisit record is written,
// the earlier record is read, and must have the digest. So it does no harm that files of an archive are
// deleted, that a killed process has named a record that its successor truncated, or that a record is
// written again after a stale verdict.
//
// A revisit record stands after its original, in the same volume: public records never refer to private
// ones, and truncating a file keeps each original that its records refer to. Of files that other
// processes write, only closed ones are used, because these are on disk.
//
// Archives in other folders, which the user names, are searched if the archive itself has no record. Their
// index is in memory.
//
// Known weakness: only the latest position of a payload is kept. If that file is deleted, the payload is
// written once more, even if an older file has it.

// An original is the record to which a revisit record refers.
type original struct {
	id, url string // id is "" if the record cannot be read
	date    time.Time
	at      store.Archived
	mime    string // media type for a head that has none; "" if it is left as it is
}

// mayRepeat reports whether the payload of a response is kept in the index. Responses with other
// statuses are not, because players take the status of a revisit from its original. Responses to POST requests
// are not, because players look for an original by its URL alone.
func (a *Archive) mayRepeat(raw *wire.Raw, p *packed) bool {
	return !a.opt.Whole && raw != nil && p.index.Status == 200 && raw.Cut == wire.Whole && len(raw.Body) > 0 && raw.Posted == ""
}

func (v *volume) payloadName(digest string) string {
	name := store.Learned + "payload/"
	if v.mark.Private {
		name = store.Learned + "payload-private/"
	}
	return name + dedup.HashOf([]byte(digest)).String()
}

// earlier returns the original of a payload, or nil if the volume has none.
func (v *volume) earlier(ctx context.Context, digest string) (*original, error) {
	text, err := v.store.Meta(ctx, v.payloadName(digest))
	if err != nil {
		return nil, err
	}
	var at store.Archived
	if len(text) == 0 || json.Unmarshal(text, &at) != nil || v.isOther(at.File) && !v.isClosed(at.File) {
		return v.elsewhere(digest), nil
	}
	at.Digest = digest
	first := v.recordAt(at)
	if first == nil || first.Type() != warc.Response || first.Header.Get("WARC-Payload-Digest") != digest {
		return v.elsewhere(digest), nil
	}
	return &original{id: first.ID(), url: first.URI(), date: first.Date(), at: at}, nil
}

// orRevisit returns the records that again makes of first, and first. If first is nil, or if these records
// are not shorter than p, it returns p and nil.
func (p packed) orRevisit(first *original, again func(*original) (packed, error)) (packed, *original, error) {
	if first == nil {
		return p, nil, nil
	}
	shorter, err := again(first)
	if err != nil || shorter.length >= p.length {
		return p, nil, err
	}
	return shorter, first, nil
}

// refer prepares the archives in other folders. It leaves out those with private responses.
func (a *Archive) refer() {
	var files []corpus.Archive
	for _, path := range a.opt.Refers {
		files = append(files, corpus.OnDisk(path))
	}
	public := corpus.Public(files)
	a.refers, a.others = corpus.Originals(public), map[string]string{}
	for _, f := range public {
		a.others[filepath.Base(f.Name)] = f.Name
	}
}

// elsewhere returns the original of a payload in an archive of another folder, or nil.
func (v *volume) elsewhere(digest string) *original {
	if v.mark.Private {
		return nil
	}
	found := v.refers.Find(digest)
	if found == nil {
		return nil
	}
	defer found.Close()
	if _, err := io.Copy(io.Discard, found.Block); err != nil { // the length of the record is known at its end
		return nil
	}
	return &original{id: found.ID(), url: found.URI(), date: found.Date(), at: store.Archived{File: filepath.Base(found.File), Offset: found.Offset, Length: found.Length, Digest: digest}}
}

// named returns the value of the index for a payload that is written at the given position.
func named(at store.Archived) []byte {
	at.Digest = ""
	text, _ := json.Marshal(at) // a struct of strings and numbers
	return text
}
