package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// Nearly holds pages that are almost duplicates: their resemblance to another page is slightly
// below the minimum for a duplicate. To find them, all pages must be compared with each other.
type Nearly struct {
	From   float64       // minimum resemblance to the leader, 0 to 1
	Groups []NearlyGroup // largest group first
}

// A NearlyGroup is a page, the leader, and the pages that are almost duplicates of it.
type NearlyGroup struct {
	Leader  dedup.Hash
	Members []NearlyPage
}

// A NearlyPage is a page that is almost a duplicate of its group's leader.
type NearlyPage struct {
	ID          dedup.Hash
	Resemblance float64 // exact resemblance to the leader, 0 to 1
}

// A Step contains the numbers of clusters and pages at one similarity.
type Step struct {
	Similarity float64 // 0 to 1
	Clusters   int     // clusters with at least two pages
	Pages      int     // pages in those clusters, including their leaders
}

// A LikePair is two pages and their exact resemblance.
type LikePair struct {
	A, B        dedup.Hash
	URLs        [2]string // URLs of A and B
	Resemblance float64   // 0 to 1
}

func nearly(a *Audit) *List {
	resemblances := map[entry]float64{}
	groups := map[int32][]dedup.Hash{} // maps the index of a leader to the ids of its group's pages, leader first
	l := &List{
		Name: "nearly", Of: "pages",
		Columns: brief(
			linksColumn,
			column("resemblance", "Resemblance", func(s *subject, _ *store.Record) any { return Share(resemblances[s.entry]) }).where(func(s *subject) bool { return !s.leads() }),
			urlColumn,
			column("resembles", "Resembles", func(s *subject, r *store.Record) any {
				switch {
				case s.leads():
					return report.Counted(len(groups[s.entry.page])-1, "other page")
				case s.hasOther():
					return otherURL(s, r)
				}
				return nil
			}),
			column("differs", "What differs", func(s *subject, _ *store.Record) any {
				if s.leads() || !s.hasOther() || !s.other.Kept || !s.page.Kept {
					return nil
				}
				return text(replacements(s.other, s.page))
			}),
		).more(titleColumn, wordsColumn),
		Findings: []*Finding{{groups: true, want: store.WantText}},
	}
	l.conclude = func() {
		if a.nearly == nil {
			l.lack("this list requires a comparison of all pages: run skink report --about nearly")
			return
		}
		percent := func(share float64) string { return fmt.Sprintf("%.0f", 100*share) }
		f := l.Findings[0]
		f.Title = strings.NewReplacer("{from}", percent(a.nearly.From), "{to}", percent(a.rule.Similarity)).Replace(f.measured)
		for _, g := range a.nearly.Groups {
			leader, known := a.site.at[g.Leader]
			if !known {
				continue
			}
			l.found("", leader, leader)
			groups[leader] = []dedup.Hash{g.Leader}
			for _, m := range g.Members {
				page, known := a.site.at[m.ID]
				if !known {
					continue
				}
				l.found("", page, leader)
				resemblances[entry{page, leader}] = m.Resemblance
				groups[leader] = append(groups[leader], m.ID)
			}
		}
	}
	return l
}

func (s *subject) leads() bool { return s.entry.page == s.entry.other }

// A cell shows at most shownPlaces differences, and shownValue terminal columns of each text.
const (
	shownPlaces = 4
	shownValue  = 60
)

// replacements returns the words of one text with those in their place in the other, such as
// "[Oslo | Bergen]". It returns each such pair once, and at most shownPlaces of them.
func replacements(a, b *store.Content) string {
	var all []string
	for d := range report.Differ([2]string{a.Text, b.Text}) {
		pair := fmt.Sprintf("[%s | %s]", report.Clip(cmp.Or(d.Removed, "–"), shownValue), report.Clip(cmp.Or(d.Added, "–"), shownValue))
		switch {
		case slices.Contains(all, pair):
		case len(all) == shownPlaces:
			return strings.Join(all, " ") + " …"
		default:
			all = append(all, pair)
		}
	}
	return strings.Join(all, " ")
}

// resemblances computes exact resemblances of pages. Successive calls often compare many pages with
// the same leader, so it caches the shingles of the last leader.
type resemblances struct {
	rule dedup.Rule
	of   dedup.Hash
	set  dedup.Set
}

// compare returns the resemblance of two pages as a table cell, or nil if either text is not in the
// store.
func (m *resemblances) compare(page, other *store.Content) any {
	switch {
	case page == nil || other == nil:
		return nil
	case page.Record.Hash == other.Record.Hash && page.Record.Words > 0:
		return Share(1)
	case page.Record.Leader == other.Record.ID && page.Record.Follows():
		return Share(page.Record.Resemblance)
	case !page.Kept || !other.Kept || page.Record.Words == 0 || other.Record.Words == 0:
		return nil
	}
	if m.of != other.Record.ID {
		m.of, m.set = other.Record.ID, m.shingles(other)
	}
	return Share(dedup.Resemblance(m.shingles(page), m.set))
}

func (m *resemblances) shingles(c *store.Content) dedup.Set {
	var text dedup.Text
	text.ReadString(c.Text)
	return m.rule.Set(&text)
}
