package store

import "skink/dedup"

// A Term is a word that skink shows to users, such as "pending", with its meaning in one line.
type Term struct{ Name, Meaning string }

// URLStates returns the states of URLs, in the order in which a URL may reach them.
func URLStates() []Term {
	return []Term{
		{"pending", "still to fetch"},
		{"fetched", "answered with a page or a file"},
		{"redirected", "answered with a redirect to another URL"},
		{"blocked", "forbidden by robots.txt"},
		{"postponed", "not fetched yet: URLs of this pattern kept returning duplicates; fetch them with --budget off"},
		{"failed", "an error that is not retried, such as status 404"},
		{"given-up", "an error that remained after --retries tries, such as a timeout"},
		{"outside", "linked to, but out of scope or too many links from a seed"},
	}
}

// Verdicts returns the verdicts on pages.
func Verdicts() []Term {
	return []Term{
		{string(dedup.Unique), "no earlier page has nearly the same text"},
		{string(dedup.Exact), "has the same words as its leader"},
		{string(dedup.Near), "resembles its leader by at least --similarity; with --rule containment, its leader contains enough of it"},
		{string(dedup.Thin), "has fewer words than --min-words and is not compared"},
	}
}

// VisitResults returns the results of visits to URLs that were visited before.
func VisitResults() []Term {
	return []Term{
		{FirstVisit.String(), "the first visit that found a page"},
		{string(NotModified), "the server answered that the page has not changed"},
		{string(Same), "the text has the same words"},
		{string(Altered), "the text has other words, or the page is now a redirect or a file"},
		{"changed otherwise", "a redirect or a file changed, or the noindex of a page"},
		{string(Failed), "the visit failed, and the page counts as unchanged"},
		{string(Vanished), "earlier visits found a page or a file, and this visit found none"},
		{"still without a page", "neither this visit nor an earlier one found a page"},
	}
}

// MeaningOf returns the meaning of one of the names in [URLStates].
func MeaningOf(state string) string {
	for _, t := range URLStates() {
		if t.Name == state {
			return t.Meaning
		}
	}
	return ""
}
