package crawler

// Pause stops new requests until [Crawl.GoOn]. Requests under way finish, hosts stay claimed, and
// timeouts keep running.
func (c *Crawl) Pause() { c.schedule.pause(true) }

// GoOn ends a pause.
func (c *Crawl) GoOn() { c.schedule.pause(false) }

// Paused reports whether the crawl is paused.
func (c *Crawl) Paused() bool {
	c.schedule.mu.Lock()
	defer c.schedule.mu.Unlock()
	return c.schedule.paused
}

func (s *schedule) pause(paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = paused
	s.changed()
}
