package crawler

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"skink/crawler/folder"
	"skink/frontier"
)

// # May this URL be requested now?
//
// Every URL is asked for here directly before it is requested, whatever the purpose: also a URL
// that an earlier run queued, because the user may have changed the rules since. Links are asked
// for here too when they are found, so that URLs outside the crawl are not queued. The rules that
// need no request are in refuse. robots.txt comes last, because it may have to be fetched.
//
// A queued URL that is refused ends as [frontier.Outside], with the rule in its record. If it is a
// page that was fetched before, its record stays as it is.

// A refusal is the reason why a URL must not be requested: a rule, a colon and an explanation. It
// is empty if the URL may be requested.
type refusal string

func (r refusal) Error() string { return string(r) }

// elsewhere reports whether the URL is on a part of the web that the crawl does not cover, so only
// its existence may be checked.
func (r refusal) elsewhere() bool { return r.rule() == ruleScope || r.rule() == ruleInclude }

func (r refusal) rule() string {
	rule, _, _ := strings.Cut(string(r), ":")
	return rule
}

const (
	ruleExclude = "exclude"
	ruleLogout  = "logout"
	ruleFolder  = "folder"
	ruleScope   = "scope"
	ruleInclude = "include"
	ruleDepth   = "depth"
	ruleBlock   = "blocked"
)

// applies reports whether a rule applies to requests for a purpose. The user chose the page of a
// login, and a robots.txt is needed only for URLs that may be requested. Files of pages and checked
// URLs may be on any host.
func (p purpose) applies(rule string) bool {
	switch p {
	case forLogin:
		return false
	case forRobots:
		return rule == ruleFolder
	case forRequisite, forCheck, forDetour, forPart:
		return rule == ruleExclude || rule == ruleLogout || rule == ruleFolder
	case forPage:
		return true
	}
	return rule != ruleDepth
}

// refuse returns the rule by which a canonical URL must not be requested for a purpose. The
// argument from is the URL of the page that leads to it, or the URL itself if it was queued or
// named by the user. depth is its distance from a seed.
func (o *Options) refuse(url string, p purpose, from string, depth int) refusal {
	orders := o.Control.orders()
	if len(orders.Blocked) > 0 {
		if why, is := orders.Blocked[frontier.HostOf(url)]; is {
			return refusal(ruleBlock + ": " + cmp.Or(why, "by order"))
		}
	}
	switch {
	case p.applies(ruleLogout) && o.logsOut(url):
		return ruleLogout + ": the request may end the session or delete something"
	case p.applies(ruleFolder) && o.trespasses(from, url):
		return ruleFolder + ": only pages of a folder may lead to its files"
	case o.Scope != nil:
		return o.Scope.refuse(url, p, depth, o.MaxDepth, orders)
	case p.applies(ruleDepth):
		return beyond(depth, o.MaxDepth)
	}
	return ""
}

// Refuses returns the reason why an item of the frontier must not be requested, or "".
func (o *Options) Refuses(item frontier.Item) string {
	return string(o.refuse(item.URL, purposeOf(item), item.URL, item.Depth))
}

// admit returns an error if a request must not be made now. The URL of a turn has passed robots.txt
// in permit.
func (f *fetcher) admit(ctx context.Context, a *ask) error {
	if r := f.opt.refuse(a.url, a.purpose, cmp.Or(a.from, a.url), a.depth); r != "" {
		return r
	}
	if a.purpose != forDetour && a.purpose != forPart && a.purpose != forGuess {
		return nil
	}
	said, err := f.robots.about(ctx, &f.opt, a.url)
	if err != nil {
		return err
	}
	if said.forbidden {
		return refusal("robots.txt: does not allow this URL")
	}
	a.delay = said.delay
	return nil
}

// Admits reports whether a canonical URL belongs to the crawl, no matter which page links to it.
// The URL must be in scope, must not be in a folder on disk, and must not end a session.
func (o *Options) Admits(url string) bool { return o.refuse(url, forPage, "", 0) == "" }

// trespasses reports whether a link leads into a folder on disk from a page outside the folder.
// Only pages of a folder may link into it.
func (o *Options) trespasses(from, to string) bool {
	if len(o.Folders) == 0 {
		return false
	}
	host := frontier.HostOf(to)
	return host != frontier.HostOf(from) && o.isFolder(host)
}

func (o *Options) isFolder(host string) bool {
	return slices.ContainsFunc(o.Folders, func(f folder.Site) bool { return f.Host == host })
}
