package learn

import (
	"slices"
	"strconv"
)

// # One text for many URLs
//
// A host that shows one text at many URLs shows an error, although the status is 200. There are two
// cases, and both have the same evidence: groups of what shows one text.
//
//   - A soft 404: URLs that do not exist have one text, always. The members of a group are the URLs
//     of one pattern. A probe decides whether their text is an error; see soft.go.
//   - An outage: all URLs have one text, for a while. The members of a group are the different texts
//     that the new text has replaced; see outage.go.
//
// Text that changes at one URL is another matter, and no evidence.
const (
	maxGroups  = 24 // maximum number of groups in a list
	maxMembers = 8  // maximum number of members of a group
	maxWaiting = 64 // the same while the response to a probe is awaited, which may show that they are no pages
)

// A oneText is a text and the group of what shows it.
type oneText struct {
	Text string   `json:"text"` // identifies the text
	Of   []string `json:"of"`   // members
}

// groups is a list of groups, latest first.
type groups []oneText

// add adds a member to the group of a text, which has at most the given number of them, and returns all
// members of the group. A full list loses the group that has had no new member for the longest time.
func (g *groups) add(text, member string, most int) []string {
	found := oneText{text, g.of(text)}
	*g = slices.DeleteFunc(*g, func(o oneText) bool { return o.Text == text })
	found.Of = addTo(found.Of, member, most)
	*g = slices.Insert((*g)[:min(len(*g), maxGroups-1)], 0, found)
	return found.Of
}

// of returns the members of the group of a text.
func (g *groups) of(text string) []string {
	if i := slices.IndexFunc(*g, func(o oneText) bool { return o.Text == text }); i >= 0 {
		return (*g)[i].Of
	}
	return nil
}

// addTo returns a list with a member added. If the list is full, the member replaces the last one.
func addTo(members []string, member string, most int) []string {
	if slices.Contains(members, member) {
		return members
	}
	return append(slices.Clone(members[:min(len(members), most-1)]), member)
}

// nameOf returns a hash as the name of a text.
func nameOf(hash uint64) string { return strconv.FormatUint(hash, 36) }
