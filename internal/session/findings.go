package session

import (
	"context"
	"fmt"
	"time"

	"skink/internal/complete"
	"skink/report"
	"skink/report/audit"
)

// endCrawl finishes a crawl that has visited all its URLs: it stores the findings, and then records
// that all URLs to visit again have been visited. If the process is killed in between, the next run
// calls endCrawl again.
func (r *run) endCrawl(ctx context.Context, p plan) error {
	if err := r.keepFindings(ctx); err != nil {
		return err
	}
	return p.again.end(context.WithoutCancel(ctx))
}

// auditMemory is the number of bytes of memory that an audit needs for each URL; see package audit.
const auditMemory = 1300

// keepFindings audits the store, if the options ask for it, and stores the findings as those of the
// last crawl. It does nothing if the store has not changed since they were last stored. The crawl
// must have ended, so that its memory is free.
func (r *run) keepFindings(ctx context.Context) error {
	if !r.opt.Audit {
		return nil
	}
	h, err := audit.ReadHistory(ctx, r.store)
	if err != nil {
		return err
	}
	end, err := r.store.End(ctx)
	if err != nil {
		return err
	}
	if kept := h.Of(h.Now.Number); kept != nil && kept.End == end {
		return nil
	}
	tally, err := r.store.Tally(ctx)
	if err != nil {
		return err
	}
	if need := auditMemory * tally.Records(); need > r.opt.Memory {
		r.out.Say("The findings of this crawl were not stored, because an audit of %s needs more memory than --memory %s allows: try --memory %s.",
			report.Counted(tally.Records(), "URL"), report.Size(r.opt.Memory), report.Size(need))
		return nil
	}
	opt := audit.Options{About: report.About{Settings: r.settings}, Rule: r.rule, Nearly: func(ctx context.Context) (*audit.Nearly, error) {
		return complete.NearlyUnasked(ctx, r.store, r.rule)
	}}
	a, err := audit.Read(ctx, r.store, opt)
	if err == nil {
		_, err = audit.Keep(ctx, r.store, a, time.Now())
	}
	if err == nil {
		err = r.store.Sync()
	}
	if err != nil {
		return fmt.Errorf("save the findings of the audit: %w; to try again, run the same command", err)
	}
	if h.Before() != nil {
		r.out.Say("Saved the findings of crawl %d. To compare them with those of crawl %d: %s --about audit --since LAST", h.Now.Number, h.Now.Number-1, r.withStore("skink report"))
	} else {
		r.out.Say("Saved the findings of crawl %d. To see them: %s --about audit", h.Now.Number, r.withStore("skink report"))
	}
	return nil
}
