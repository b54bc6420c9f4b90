package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"skink/crawler/wire"
	"skink/dedup"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

// # POST requests are sent once
//
// The server may do more than answer when a script sends a POST request. So if a page is rendered again in
// the same round of visits, its script gets the archived response. The store keeps the position of each, as it does for
// payloads. If a process is killed before the page is committed, the response stands behind the end of the open
// file. So it is moved to that end, before the file is truncated behind it.

// PostedName is the beginning of the names under which the store keeps the positions.
const PostedName = store.Learned + "posted/"

// Posted returns the response to a POST request with the given [wire.Raw.Posted], or nil if the archive has none
// of this round.
func (a *Archive) Posted(ctx context.Context, key string) *wire.Answer {
	key = dedup.HashOf([]byte(key)).String()
	text, err := a.store.Meta(ctx, PostedName+key)
	var at store.Archived
	if err != nil || json.Unmarshal(text, &at) != nil {
		return nil
	}
	f, rec := a.recordIn(at)
	if rec == nil {
		return nil
	}
	defer f.Close()
	round, err := store.LastRound(ctx, a.store)
	answer, readErr := corpus.AnswerOf(rec)
	if err != nil || readErr != nil || rec.Date().Before(round) || rec.Header.Get(corpus.PostedField) != key {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if answer.Body = bytes.NewReader(body); err != nil {
		return nil
	}
	return &answer
}

// movePosted moves the responses to POST requests behind end to end, with their requests. It returns the end of
// what it has moved. If the store can only be read, it moves nothing.
func (t *tail) movePosted(ctx context.Context, end int64) (int64, error) {
	s, ok := t.store.(store.Meta)
	rest, err := io.ReadAll(io.NewSectionReader(t.file, end, 1<<62))
	if err != nil || !ok {
		return end, err
	}
	var moved []byte
	places := map[string]store.Archived{}
	first := &warc.Record{} // the last response to a POST request
	for r := warc.NewReader(bytes.NewReader(rest)); ; {
		rec, err := r.Next()
		if err == nil {
			_, err = io.Copy(io.Discard, rec.Block)
		}
		if err != nil { // what the process wrote when it was killed, or the end
			break
		}
		key := first.Header.Get(corpus.PostedField)
		_, known := places[key]
		switch {
		case rec.Header.Has(corpus.PostedField):
			first = rec
		case key != "" && !known && rec.Header.Get("WARC-Concurrent-To") == first.ID():
			places[key] = store.Archived{File: t.name, Offset: end + int64(len(moved)), Length: first.Length}
			moved = append(moved, rest[first.Offset:rec.Offset+rec.Length]...)
		}
	}
	_, err = t.file.WriteAt(moved, end)
	for key, at := range places {
		err = errors.Join(err, s.SetMeta(ctx, PostedName+key, named(at)))
	}
	return end + int64(len(moved)), err
}
