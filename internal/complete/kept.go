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
	"skink/internal/precedence"
	"skink/store"
)

// # A comparison is made once
//
// What a comparison found is kept beside the store, see [store.Keeper], and is true as long as the
// store's pages are what they were. It finds clusters at each of [EachTwentieth], and at the
// similarity of the crawl. So one comparison answers for a report on the whole, the pages that are
// almost duplicates, and the similarities of a view. That takes a third more time than the
// similarity of the crawl alone does.
//
// Whose comparison it is, is said by a state: the hash of the rule, and of all that a comparison
// reads of each page but its text, with the place of its last visit in the order of the store. A
// text does not change without a visit. The state is reckoned while the pages are collected, which
// is done before every comparison. So a page that came, went or was visited meanwhile makes all
// pages be compared anew. To compare only what changed would not do: who ranks first, and what a
// host repeats, depends on all pages.
//
// What cannot be kept, or read, is made anew the next time.

// keptVersion is that of what is kept. It grows with each change of what a comparison finds on the
// same pages.
const keptVersion = 3

// A keptComparison is what is kept, as JSON, packed as texts are. So damage shows.
type keptComparison struct {
	State        string         `json:"state"`
	Similarities []float64      `json:"similarities"`
	Hosts        []*boilerplate `json:"hosts"`
	Leaders      []int32        `json:"leaders"` // of the pairs of which one text took another, by rank
	Texts        []int32        `json:"texts"`   // taken by them
	Resemblances []float64      `json:"resemblances"`
}

// keptName is what a comparison is kept as.
func (w *Whole) keptName() string {
	if w.wholeText {
		return "alike-whole"
	}
	return "alike"
}

// A stateHash makes the state of a store.
type stateHash struct{ hash.Hash }

func newState(opt Options) stateHash {
	h := stateHash{sha256.New()}
	fmt.Fprintf(h, "%d %d %+v %t %t\n", keptVersion, dedup.TokenizerVersion, opt.Rule, opt.WholeText, opt.Longest)
	return h
}

// add takes in a page.
func (h stateHash) add(page *store.Change, order *precedence.Order) {
	r := &page.Record
	fmt.Fprintf(h, "%s %s %s %s %t %t %d %q %q %+v\n",
		page.Cursor, r.ID, r.Hash, r.Kind, page.Kept, r.NoText, r.Words, r.Title, r.Lang, precedence.Of(r, order))
	if r.Follows() {
		h.Write(r.Leader[:])
	}
}

func (h stateHash) String() string { return hex.EncodeToString(h.Sum(nil)) }

// keptWith are the similarities of a comparison that is to be kept.
func keptWith(rule dedup.Rule, asked []float64) []float64 {
	all := append(EachTwentieth(asked[0]), rule.Similarity)
	all = append(all, asked...)
	slices.Sort(all)
	return slices.Compact(all)
}

// remember keeps what a comparison found.
func (w *Whole) remember(ctx context.Context, found *dedup.Taken) error {
	k := keptComparison{State: w.state, Similarities: found.Similarities(), Hosts: w.hosts}
	for _, p := range found.Pairs() {
		k.Leaders, k.Texts, k.Resemblances = append(k.Leaders, p.Leader), append(k.Texts, p.Text), append(k.Resemblances, p.Resemblance)
	}
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return w.Keep(ctx, w.keptName(), store.Pack(b))
}

// recall is what a comparison of the same pages found at some similarities and perhaps at others,
// too; nil if nobody can say.
func (w *Whole) recall(ctx context.Context, similarities []float64) *dedup.Taken {
	packed, err := w.Kept(ctx, w.keptName())
	if err != nil || packed == nil {
		return nil
	}
	b, err := store.Unpack(packed)
	if err != nil {
		return nil
	}
	var k keptComparison
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
	w.repeat(k.Hosts)
	return found
}
