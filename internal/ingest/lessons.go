package ingest

import (
	"context"
	"iter"

	"skink/crawler/learn"
	"skink/frontier"
	"skink/store"
)

// learn tells of a page that was judged. Of one without words there is nothing to be
// learned: all such pages are alike.
func (p *Pipeline) learn(ctx context.Context, s *subject, outcome store.Outcome) error {
	r := &s.record
	if p.opt.Learn == nil || outcome != store.Written || s.touch || r.Kind != store.Page || r.Words == 0 {
		return nil
	}
	v := learn.Verdict{Group: r.ID, Links: s.linkSum}
	if r.Follows() {
		v.Group, v.Leader, v.Exact = r.Leader, r.DuplicateOf, r.Resemblance == 1
	}
	return p.opt.Learn.Judged(ctx, r.URL, v)
}

func itemURLs(items []frontier.Item) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range items {
			if items[i].Kind == frontier.Page && !yield(items[i].URL) {
				return
			}
		}
	}
}
