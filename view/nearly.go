package view

import (
	"cmp"
	"context"
	"net/http"

	"skink/report/audit"
	"skink/store"
)

// # Pages that are almost duplicates
//
// The finding "nearly" requires a comparison of all pages. An audit of a large store lacks it until
// a user opens the page of the finding. Unless there is a result already, that page starts the
// comparison that the page "Similarity" also shows. Then it repeats the audit with the result. If a
// crawl in this process is writing to the store, only a form starts the comparison.

// nearlyName is the name of the list and the finding of pages that are almost duplicates.
const nearlyName = "nearly"

// A nearlyView is the data for the page of the finding "nearly" until the finding has rows.
type nearlyView struct {
	Comparing bool
	Done      int64 // percentage of the comparison that is complete
	Auditing  bool
	Failed    error
}

// nearlyPage shows the finding "nearly". If the last audit lacks it, nearlyPage starts its
// computation and shows the progress.
func (v *View) nearlyPage(ctx context.Context, r *http.Request) (*screen, error) {
	audited, compared := v.auditing.now(), v.comparison.now()
	if a := audited.result; a != nil && !audited.Making && a.List(nearlyName).Unknown == "" {
		r.SetPathValue("name", nearlyName)
		return v.findingPage(ctx, r)
	}
	n := &nearlyView{Comparing: compared.Making, Done: v.compared.Load(), Auditing: audited.Making}
	running := compared.Making || audited.Making
	switch {
	case running:
	case compared.Failed != nil, audited.Failed != nil:
		n.Failed = cmp.Or(compared.Failed, audited.Failed)
	case v.opt.Crawl == nil || compared.result != nil:
		v.beside.Go(v.findNearly)
		running, n.Comparing, n.Auditing = true, compared.result == nil, compared.result != nil
	}
	return &screen{name: "nearly", title: "Similar pages that are not duplicates", again: running, Content: n}, nil
}

// findNearly compares all pages if there is no comparison yet, and then audits the store with the
// pages that are almost duplicates. It returns when the audit has ended, or at once if the
// comparison or an audit is already running.
func (v *View) findNearly() {
	if v.comparison.now().result == nil {
		v.compareAll()
	}
	alike := v.comparison.now().result
	if alike == nil {
		return
	}
	v.makeAudit("", func(context.Context, store.Reader) (*audit.Nearly, error) { return alike.Nearly, nil })
}

func (v *View) findNearlyAgain(*http.Request) (next string) {
	v.beside.Go(v.findNearly)
	return "/audit/" + nearlyName
}
