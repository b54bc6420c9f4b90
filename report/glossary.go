package report

import (
	"skink/dedup"
	"skink/store"
)

// A Term is a word that skink shows to users, such as "pending", with a one-line explanation.
type Term struct{ Name, Meaning string }

// URLStates returns the states of URLs, in the order in which a URL may reach them.
func URLStates() []Term {
	return []Term{
		{"pending", "not fetched yet"},
		{"fetched", "the server returned a page or a file"},
		{"redirected", "the server returned a redirect to another URL"},
		{"blocked", "forbidden by robots.txt, or answered with a captcha"},
		{"postponed", "not fetched yet: URLs of the same pattern kept returning duplicates; --budget off fetches these URLs"},
		{"failed", "the fetch failed with an error that is not retried, such as status 404"},
		{"given-up", "the fetch still failed after all retries (--retries), for example with a timeout"},
		{"outside", "linked, but excluded, out of scope or too deep"},
	}
}

// Verdicts returns the possible verdicts on a page.
func Verdicts() []Term {
	return []Term{
		{string(dedup.Unique), "no earlier page has nearly the same text"},
		{string(dedup.Exact), "the page has the same words as its leader"},
		{string(dedup.Near), "the resemblance of the page to its leader is at least --similarity; with --rule containment, the leader contains enough of it"},
		{string(dedup.Thin), "the page has fewer words than --min-words and is not compared"},
	}
}

// VisitResults returns the possible results of revisiting a URL.
func VisitResults() []Term {
	return []Term{
		{store.FirstVisit.String(), "the first visit that found a page"},
		{string(store.NotModified), "the server reported that the page has not changed"},
		{string(store.Same), "the text still has the same words"},
		{string(store.Altered), "the text has different words, or the page is now a redirect or a file"},
		{"changed otherwise", "a redirect or a file has changed, or noindex was added to a page or removed from it"},
		{string(store.Failed), "the visit failed, and the page counts as unchanged"},
		{string(store.Vanished), "earlier visits found a page or a file, but this visit did not"},
		{"still without a page", "neither this visit nor an earlier one found a page"},
	}
}

// meaningOf returns the meaning of one of the terms in [URLStates].
func meaningOf(state string) string {
	for _, t := range URLStates() {
		if t.Name == state {
			return t.Meaning
		}
	}
	return ""
}
