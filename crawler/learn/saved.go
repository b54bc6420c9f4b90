package learn

// Saved is how many fetches were saved by rule, on the hosts that the book has at hand.
func (b *Book) Saved() map[Rule]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	saved := map[Rule]int64{}
	for _, e := range b.hosts {
		for rule, counted := range e.site.Rules {
			saved[rule] += counted.URLs
		}
	}
	return saved
}
