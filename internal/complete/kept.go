package complete

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"

	"skink/dedup"
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
// only the changed pages would be wrong: the ranking and the boilerplate of a host depend on all
// pages.
//
// If a comparison cannot be stored or read, the next run compares again.

// keptVersion is the version of the cached form. Increase it with each change that affects the
// result of a comparison.
const keptVersion = 5

// A keptMatches is the cached form of a comparison. It is stored as JSON that is compressed in the
// same way as texts, so damage is detected.
type keptMatches struct {
	State        string         `json:"state"`
	Similarities []float64      `json:"similarities"`
	Hosts        []*boilerplate `json:"hosts"`
	Leaders      []int32        `json:"leaders"`         // for each pair of a leader and a text in its cluster, the leader's index in Whole.texts
	Texts        []int32        `json:"texts"`           // for each pair in Leaders, the other text's index in Whole.texts
	Resemblances []float64      `json:"resemblances"`    // resemblance of each pair, or its containment if the rule is containment
	Alike        []float64      `json:"alike,omitempty"` // resemblance of each pair if the rule is containment
}

func (w *Whole) keptName() string {
	name := "alike"
	if w.rule.Contained > 0 {
		name = "contained"
	}
	if w.wholeText {
		name += "-whole"
	}
	return name
}

// A stateHash computes the hash that identifies the input of a comparison; see the essay above.
type stateHash struct{ hash.Hash }

func newState(opt Options) stateHash {
	h := stateHash{sha256.New()}
	fmt.Fprintf(h, "%d %d %+v %t %t\n", keptVersion, dedup.TokenizerVersion, opt.Rule, opt.WholeText, opt.Longest)
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

func (w *Whole) remember(ctx context.Context, found *dedup.Taken) error {
	k := keptMatches{State: w.state, Similarities: found.Similarities(), Hosts: w.hosts}
	for _, p := range found.Pairs() {
		k.Leaders, k.Texts, k.Resemblances = append(k.Leaders, p.Leader), append(k.Texts, p.Text), append(k.Resemblances, p.Resemblance)
		if w.alike != nil {
			k.Alike = append(k.Alike, w.alike[p.Text])
		}
	}
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return w.Keep(ctx, w.keptName(), store.Pack(b))
}

// recall returns the cached comparison. It returns nil if there is none, if the pages of the store
// have changed since it was cached, or if it lacks the clusters at any of the given similarities.
func (w *Whole) recall(ctx context.Context, similarities []float64) *dedup.Taken {
	packed, err := w.Kept(ctx, w.keptName())
	if err != nil || packed == nil {
		return nil
	}
	b, err := store.Unpack(packed)
	if err != nil {
		return nil
	}
	var k keptMatches
	if json.Unmarshal(b, &k) != nil || k.State != w.state || len(k.Leaders) != len(k.Texts) || len(k.Leaders) != len(k.Resemblances) {
		return nil
	}
	for _, similarity := range similarities {
		if !slices.Contains(k.Similarities, similarity) {
			return nil
		}
	}
	pairs := make([]dedup.Take, len(k.Leaders))
	for i := range pairs {
		pairs[i] = dedup.Take{Leader: k.Leaders[i], Text: k.Texts[i], Resemblance: k.Resemblances[i]}
	}
	found, err := dedup.NewTaken(len(w.texts), k.Similarities, pairs)
	if err != nil {
		return nil
	}
	if w.rule.Contained > 0 {
		if len(k.Alike) != len(k.Texts) {
			return nil
		}
		w.alike = make([]float64, len(w.texts))
		for i, text := range k.Texts {
			w.alike[text] = k.Alike[i]
		}
	}
	w.repeat(k.Hosts)
	return found
}
