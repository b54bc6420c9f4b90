package audit

import (
	"skink/dedup"
	"skink/store"
)

// resemblances computes exact resemblances of texts. It keeps the set of shingles (short word
// sequences) of the last other page, because many calls in a row compare with the same page.
type resemblances struct {
	rule dedup.Rule
	of   dedup.Hash
	set  dedup.Set
}

// compare returns the resemblance of two pages, 0 to 1, as a cell of a table. It returns nil if the
// resemblance cannot be computed, because a page or its stored text is missing or empty.
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
	m.rule.Read(&text, c.Text, c.Record.Lang)
	return m.rule.Set(&text)
}
