package crawler

// Pause begins no further request until [Crawl.GoOn]. What is under way is finished, hosts stay
// claimed, and the limits of time run on.
func (c *Crawl) Pause() { c.schedule.pause(true) }

// GoOn ends a pause.
func (c *Crawl) GoOn() { c.schedule.pause(false) }

// Paused says whether the crawl begins no further request because it was told to.
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
