package cli

import (
	"context"

	"skink/internal/complete"
	"skink/report"
)

// ofWhole is the source of a report on pages that were judged against all others.
func ofWhole(w *complete.Whole) report.Source { return wholeReport{report.From(w, w.WhyLeads), w} }

type wholeReport struct {
	report.Source
	w *complete.Whole
}

// LeftOut says which blocks of which hosts were left out of the comparison.
func (r wholeReport) LeftOut(context.Context) ([]report.LeftOut, error) {
	left := r.w.LeftOut()
	if left == nil {
		return nil, nil
	}
	all := []report.LeftOut{}
	for _, l := range left {
		blocks := []report.Block{}
		for _, b := range l.Top {
			blocks = append(blocks, report.Block(b))
		}
		all = append(all, report.LeftOut{Host: l.Host, Pages: l.Pages, Blocks: l.Blocks, Shortened: l.Shortened, Top: blocks})
	}
	return all, nil
}
