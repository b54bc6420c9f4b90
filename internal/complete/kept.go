package complete

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"skink/dedup"
	"skink/internal/join"
	"skink/store"
	"skink/store/precedence"
)

// # Cached comparisons
//
// The result of a comparison is cached beside the store; see [store.Keeper]. It is valid until a
// page of the store changes. It contains the clusters at each similarity from [EachTwentieth], and
// at that of the crawl. So one comparison serves the report with --complete, the list of pages that
// are almost duplicates, and the similarities that the viewer offers. It takes a third longer than
// a comparison at the crawl's similarity alone.
//
// A state identifies the input of a comparison. It is a hash of the rule and of everything that a
// comparison reads from each page except its text. Instead of the text, it includes the position of
// the page's last visit in the order of the store, because only a visit can change the text. The
// state is computed while the pages are collected, which precedes every comparison. Once a page has
// been added, removed or visited, the cache is stale, and all pages are compared again. Comparing
// only the changed pages would be wrong: the ranking depends on all pages.
//
// A comparison of many pages takes hours. So what it has found is stored after each round of the join
// (see [join.Join]). A comparison that was
// interrupted continues there, if the pages have not changed. It reads the texts again to make the
// entries of the join, but compares only the pairs of later rounds.
//
// If a comparison cannot be stored or read, the next run compares again.

// keptVersion is the version of the cached form. Increase it with each change that affects the
// result of a comparison.
const keptVersion = 8

// A keptMatches is a cached comparison. It is written by package gob, and compressed in the same way as
// texts, so damage is detected.
type keptMatches struct {
	State        string
	Similarities []float64
	Next         int32 // text at which the next round begins, or complete
	Pairs        []join.Take
	Alike        []float64 // see clustering; nil until the comparison is complete
}

// complete is the value of keptMatches.Next after the last round.
const complete = -1

func (w *Whole) keptName() string {
	name := "alike"
	if w.rule.Contained > 0 {
		name = "contained"
	}
	return name
}

// A stateHash computes the hash that identifies the input of a comparison; see the essay above.
type stateHash struct{ hash.Hash }

func newState(opt Options) stateHash {
	h := stateHash{sha256.New()}
	fmt.Fprintf(h, "%d %d %+v %+v\n", keptVersion, dedup.TokenizerVersion, opt.Rule, rankingOf(opt))
	return h
}

// add hashes all data about a page that the comparison uses, except its text.
func (h stateHash) add(page *store.Change, order *precedence.Order) {
	r := &page.Record
	fmt.Fprintf(h, "%s %s %s %s %t %t %d %q %q %+v\n",
		page.Cursor, r.ID, r.Hash, r.Kind, page.Kept, r.NoText, r.Words, r.Title, r.Lang, precedence.Of(r, order))
	if r.Follows() {
		h.Write(r.Leader[:])
	}
}

func (h stateHash) String() string { return hex.EncodeToString(h.Sum(nil)) }

// keptWith returns the similarities at which clusters are found for the cache: the requested ones,
// those of EachTwentieth, and that of the rule. They are sorted, without duplicates. If the rule is
// containment, it returns only the requested ones.
func keptWith(rule dedup.Rule, asked []float64) []float64 {
	if rule.Contained > 0 {
		return asked
	}
	all := append(EachTwentieth(asked[0]), rule.Similarity)
	all = append(all, asked...)
	slices.Sort(all)
	return slices.Compact(all)
}

// remember stores what has been found before the round that begins at the text next. An error is
// ignored: without the cache, the next run compares again.
func (w *Whole) remember(ctx context.Context, found *join.Taken, next int32) {
	if !w.keep {
		return
	}
	found.Sort()
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(keptMatches{w.state, found.Similarities(), next, found.Pairs(), w.alike}) == nil {
		_ = w.Keep(ctx, w.keptName(), store.Pack(b.Bytes()))
	}
}

// recall returns the cached comparison. It returns nil if there is none, if the pages of the store
// have changed since it was cached, or if it lacks the clusters at any of the given similarities. If
// the comparison was interrupted, recall also returns nil, and w.begun is how far it went.
func (w *Whole) recall(ctx context.Context, similarities []float64) *join.Taken {
	packed, err := w.Kept(ctx, w.keptName())
	if err != nil || packed == nil {
		return nil
	}
	b, err := store.Unpack(packed)
	if err != nil {
		return nil
	}
	var k keptMatches
	if gob.NewDecoder(bytes.NewReader(b)).Decode(&k) != nil || k.State != w.state {
		return nil
	}
	w.begun = k
	lacks := func(similarity float64) bool { return !slices.Contains(k.Similarities, similarity) }
	if k.Next != complete || slices.ContainsFunc(similarities, lacks) {
		return nil
	}
	found, err := w.restore(&k)
	if err != nil {
		return nil
	}
	w.alike = k.Alike
	return found
}

// restore returns the clusters that were stored.
func (w *Whole) restore(k *keptMatches) (*join.Taken, error) {
	found, err := join.NewTaken(len(w.short), k.Similarities)
	if err != nil {
		return nil, err
	}
	for _, p := range k.Pairs {
		if !found.Take(p.Leader, p.Text, p.Resemblance) {
			return nil, fmt.Errorf("read a cached comparison: %w: %+v", store.ErrCorrupt, p)
		}
	}
	return found, nil
}

// resume returns the clusters at the given similarities as far as an interrupted comparison found
// them, and the text at which the next round begins.
func (w *Whole) resume(similarities []float64) (found *join.Taken, next int32, err error) {
	k := &w.begun
	if slices.Equal(k.Similarities, similarities) {
		if found, err := w.restore(k); err == nil {
			return found, k.Next, nil
		}
	}
	found, err = join.NewTaken(len(w.short), similarities)
	return found, 0, err
}
