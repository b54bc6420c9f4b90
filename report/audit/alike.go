package audit

import (
	"skink/dedup"
	"skink/store"
)

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
