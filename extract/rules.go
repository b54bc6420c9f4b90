package extract

// # The rules of the main text
//
// The main text of a page is what this list of rules makes of it, in this order. The first rules
// clear marks and drop boxes. The rule "root" chooses the box of the main text, and the last rules
// drop single blocks of that box. The survey holds what the rules know of the page, and what they
// have decided.
//
// TestRulesWorth switches off one rule after the other, and measures what that changes. A rule stays
// only if it is worth a thousandth on some set of pages.

// A Rule is a step in finding the main text.
type Rule struct {
	Name  string // such as "root"
	Why   string // what the rule assumes about pages
	apply func(*survey)
}

var rules = []Rule{
	{"sections", "the id or class of a section of text names its subject", (*survey).clearSections},
	{"flow", "a box with paragraphs beside it belongs to the text, wherever it is placed", (*survey).keepFlow},
	{"marks", "class names and elements say what is boilerplate", (*survey).prune},
	{"repeats", "text that the page repeats is read once, and commands and line numbers are not text", (*survey).dropRepeats},
	{"cards", "a row of boxes with headlines shows other articles", (*survey).dropCards},
	{"appendices", "a heading such as Related articles begins a section that is not part of the text above it", (*survey).dropAppendices},
	{"root", "one box holds the main text", (*survey).findRoot},
	{"column", "one column holds the paragraphs of the text", (*survey).narrow},
	{"headline", "the headline of an article is in its title, and what is above it are teasers; that of another page belongs to its text", (*survey).placeHeadline},
	{"labels", "a short line between paragraphs belongs to the template", (*survey).dropLabels},
	{"orphans", "a heading has lost its text", (*survey).dropOrphans},
}

// Rules returns the rules by which [Parse] finds the main text, in the order in which they apply.
func Rules() []Rule { return rules }

// Without returns options with which Parse leaves out the rule with this name, to measure what the
// rule is worth.
func (o Options) Without(rule string) Options {
	o.without = rule
	return o
}
