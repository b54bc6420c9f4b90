package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skink/report"
)

// A Condition describes when a site fails the audit, such as "broken>0": more than 0 broken links.
// A Condition with a Change, such as "new:broken>0", counts only entries with this change since an
// earlier crawl.
type Condition struct {
	Change  Change   // "" means any change
	Name    string   // list, finding or severity to count, such as "error"
	op      operator // between the count and Bound
	Bound   float64
	Percent bool // whether Bound is a percentage of all pages or URLs; see List.Of
}

type operator struct {
	sign  string
	limit string // words before the bound in the message about a failed condition
	holds func(a, b float64) bool
}

// ops lists the operators. ">=" must come before ">", so the longer one is found first.
var ops = []operator{
	{">=", "must be below", func(a, b float64) bool { return a >= b }},
	{"<=", "must be above", func(a, b float64) bool { return a <= b }},
	{">", "limit", func(a, b float64) bool { return a > b }},
	{"<", "must be at least", func(a, b float64) bool { return a < b }},
	{"=", "must not be", func(a, b float64) bool { return a == b }},
}

// ParseConditions parses a comma-separated list of conditions, such as "duplicates>5%,broken>0".
// Each condition consists of the name of a list, finding or severity, an operator, and a number or
// percentage. It may begin with a change and a colon.
func ParseConditions(s string) (all []Condition, err error) {
	for part := range strings.SplitSeq(s, ",") {
		c, err := parseCondition(strings.Join(strings.Fields(part), ""))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func parseCondition(s string) (Condition, error) {
	at := strings.IndexAny(s, "<>=")
	if at < 0 {
		return Condition{}, fmt.Errorf("%q is not a limit: write NAME>NUMBER, such as broken>0 or duplicates>5%%", s)
	}
	c := Condition{Name: s[:at]}
	rest := s[at:]
	for _, op := range ops {
		if number, ok := strings.CutPrefix(rest, op.sign); ok {
			c.op, rest = op, number
			break
		}
	}
	number, percent := strings.CutSuffix(rest, "%")
	bound, err := strconv.ParseFloat(number, 64)
	if err != nil || !(bound >= 0) || percent && bound > 100 {
		return c, fmt.Errorf("%q: %q is neither a number nor a percentage: try %s%s0 or %s%s5%%", s, rest, c.Name, c.op.sign, c.Name, c.op.sign)
	}
	c.Bound, c.Percent = bound, percent
	if change, name, ok := strings.Cut(c.Name, ":"); ok {
		if !slices.Contains(Changes, Change(change)) {
			return c, fmt.Errorf("unknown change %q: must be one of new, fixed, remaining, unchecked", change)
		}
		c.Change, c.Name = Change(change), name
	}
	if w := weightNamed(c.Name); w > 0 && w < OK {
		return c, nil
	}
	if err := CheckName(c.Name); err != nil {
		return c, fmt.Errorf("%w; or a severity: error, warning, note", err)
	}
	return c, nil
}

// CheckName returns an error unless name is the name of a list or the full name of a finding. If name
// begins with the name of a list, the error suggests the list's findings, otherwise all lists.
func CheckName(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	list, _, _ := strings.Cut(name, ".")
	var names []string
	for _, n := range Names() {
		if strings.HasPrefix(n, list+".") {
			names = append(names, n)
		}
	}
	if len(names) == 0 || list == "" {
		names = ListNames()
	}
	return fmt.Errorf("unknown list or finding %q: must be one of %s", name, strings.Join(names, ", "))
}

// Fails returns a message for each condition that holds for the audit. If no condition holds, the
// site has passed.
func (a *Audit) Fails(all []Condition) (failed []string) {
	for _, c := range all {
		n, of, also := a.counted(c)
		value, shown, bound := float64(n), report.Grouped(n), strconv.FormatFloat(c.Bound, 'f', -1, 64)
		if c.Percent {
			bound += "%"
			value = 0
			if of > 0 {
				value = 100 * float64(n) / float64(of)
			}
			shown = fmt.Sprintf("%s (%s of %s)", report.Share(n, of), report.Grouped(n), report.Grouped(of))
		}
		if c.op.holds(value, c.Bound) {
			if also != "" {
				also = " (" + also + ")"
			}
			failed = append(failed, fmt.Sprintf("%s: %s, %s %s%s", c.label(), shown, c.op.limit, bound, also))
		}
	}
	return failed
}

func (c Condition) label() string {
	return strings.TrimPrefix(string(c.Change)+":"+c.Name, ":")
}

// counted returns the number of entries that the condition counts, and for percentages the total
// number of pages or URLs. The note is about entries that are not counted; it may be "".
func (a *Audit) counted(c Condition) (n, total int64, note string) {
	l, f := a.List(c.Name), a.Find(c.Name)
	switch {
	case l != nil:
		n, note = l.countOf(c.Change), besides(l.apart(), l)
	case f != nil:
		l, n, note = f.list, f.countOf(c.Change), f.Besides()
	default:
		for _, f := range a.compared() {
			if f.Weight == weightNamed(c.Name) {
				n += f.countOf(c.Change)
			}
		}
		return n, a.URLs, ""
	}
	if c.Change != "" {
		note = "" // the note is about all entries
	}
	if l.Of == "URLs" {
		return n, a.URLs, note
	}
	return n, a.Pages, note
}
