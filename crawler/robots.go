package crawler

import (
	"context"
	"errors"
	"net/http"
	"time"

	"skink/crawler/robots"
	"skink/crawler/wire"
	"skink/frontier"
)

// searchEngine is the crawler whose robots.txt rules decide whether a page counts as hidden from
// search engines; see [Page.Hidden].
const searchEngine = "Googlebot"

// permit returns the permission for the URL of a turn (the fetch of one URL). robots.txt is asked
// only if no other rule refuses the URL. permit fails only if ctx ends, or if the orders cannot be read.
//
// The cache would keep a failure for ten minutes. But the URL is tried again after its host's
// back-off. If robots.txt were not requested again then, a short outage would use up all tries of a
// site's only seed. So permit removes a transient failure from the cache, and only the schedule
// decides when the host gets the next request.
func (c *Crawl) permit(ctx context.Context, t *turn) (p permission, err error) {
	why := c.opt.Refuses(t.item)
	if refusal(why).rule() == ruleScope && c.opt.ReadOrders != nil { // another worker may have added a seed by order
		if err := c.opt.ReadOrders(ctx); err != nil {
			return p, err
		}
		why = c.opt.Refuses(t.item)
	}
	if why != "" {
		p.refusal = &Page{Item: t.item, FetchedAt: time.Now(), Problem: ProblemOutside, Detail: cut(why)}
		return p, nil
	}
	if p.robotsAnswer, err = c.robots.about(ctx, &c.opt, t.item.URL); ctx.Err() != nil {
		return p, ctx.Err()
	}
	if err != nil {
		p.refusal = robotsProblem(t.item, err)
		if p.refusal.Transient() {
			c.robots.forget(t.item.URL)
		}
		return p, nil
	}
	if p.forbidden {
		p.refusal = &Page{Item: t.item, FetchedAt: time.Now(), Problem: ProblemRobots, Detail: "robots.txt of " + t.host.name + " does not allow this URL"}
	}
	return p, nil
}

// robotsProblem returns the page for a URL that must not be fetched because its robots.txt could
// not be fetched. If the server did not answer, the page has the problem of that request, such as
// [ProblemConnect]. Otherwise it has [ProblemUnrobots].
func robotsProblem(item frontier.Item, err error) *Page {
	page := &Page{Item: item, FetchedAt: time.Now(), Problem: ProblemUnrobots, Detail: err.Error()}
	cause := errors.Unwrap(err)
	if said, answered := errors.AsType[robotsStatus](err); answered {
		page.Header = said.header
	} else if cause != nil {
		page.Problem, page.Detail = classify(cause)
		page.Detail = "robots.txt: " + page.Detail
	}
	return page
}

// timed returns a function that calls fetch, and tells the schedule how long a host took to answer.
func (c *Crawl) timed(fetch robotsFetch) robotsFetch {
	return func(ctx context.Context, robotsURL string) (int, []byte, error) {
		began := time.Now()
		status, body, err := fetch(ctx, robotsURL)
		if _, busy := errors.AsType[robotsStatus](err); busy || err == nil && status < 500 {
			c.schedule.gotRobots(frontier.HostOf(robotsURL), time.Since(began))
		}
		return status, body, err
	}
}

func (s *schedule) gotRobots(name string, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.host(name)
	h.gotRobots(took)
	s.offer(h)
}

// maxRobotsHops is the maximum number of redirects followed from a robots.txt (RFC 9309, section
// 2.3.1.2).
const maxRobotsHops = 5

// fetchRobots fetches a robots.txt and follows its redirects. It waits for the delay of each host
// that they lead to. Apart from these waits, it takes no longer than Options.Timeout. If a redirect
// cannot be followed, or there are too many, it returns the status of the redirect. The body has up
// to robots.MaxBytes+1 bytes. An incomplete body is an error, because a rule may be missing. So is
// an error status with Retry-After.
func (f *fetcher) fetchRobots(ctx context.Context, robotsURL string) (status int, body []byte, err error) {
	defer rescue(robotsURL, func(why error) { status, body, err = 0, nil, why })
	a := ask{url: robotsURL, purpose: forRobots, limit: robots.MaxBytes + 1, left: f.opt.Timeout}
	for hops := 0; ; hops++ {
		x, err := f.send(ctx, a)
		if err != nil {
			return 0, nil, err
		}
		a.left -= x.Clock.Used()
		if isRedirect(x.Status) && hops < maxRobotsHops {
			a.from = a.url
			if a.url, err = location(a.from, x.Header); err == nil && f.opt.refuse(a.url, forRobots, a.from, 0) == "" {
				continue
			}
		}
		later := x.Header.Get("Retry-After")
		switch {
		case later != "" && (x.Status == http.StatusTooManyRequests || x.Status >= 500):
			return 0, nil, robotsStatus{x.Status, http.Header{"Retry-After": {later}}}
		case x.Status == http.StatusPartialContent:
			return 0, nil, errors.New("unexpected partial response (status 206)")
		case !wire.IsPage(x.Status):
			return x.Status, nil, nil
		case x.BodyErr != nil && !errors.Is(x.BodyErr, wire.ErrTooLarge):
			return 0, nil, x.BodyErr
		}
		return x.Status, x.Body, nil
	}
}
