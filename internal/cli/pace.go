package cli

import (
	"fmt"
	"time"

	"skink/crawler"
)

// paceAfter is how long a crawl must run to show how fast it goes.
const paceAfter = 5 * time.Second

// paceText says that a crawl is slow because it is polite; "" if that is not the reason, or if
// flags asked for the pace. A newcomer would take a page a second for the program's limit.
func (c *crawlRun) paceText(m moment, hosts []crawler.HostState) string {
	delay := c.options.Delay
	if c.rule.flags.Changed("delay") || delay == 0 || m.pending == 0 {
		return ""
	}
	asked := 0
	for _, h := range hosts {
		if h.Requests > 0 && h.Rest >= delay {
			asked++
		}
	}
	if fastest := float64(asked) / delay.Seconds(); asked == 0 || m.rate() > 1.2*fastest {
		return ""
	}
	return fmt.Sprintf("Each host is asked for a page every %v at most, so as not to burden it. Sites of your own may be asked more often: --delay 100ms, or 0 for no delay.", delay)
}
