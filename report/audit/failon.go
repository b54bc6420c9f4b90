package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skink/report"
)

// A Condition compares the size of a list or finding with a bound, such as broken>0. A site fails
// the audit if the condition holds.
type Condition struct {
	Name    string // of a list or a finding, such as broken or titles.missing
	Op      string // one of > >= < <= =
	Bound   float64
	Percent bool // whether Bound is a percentage of all pages or URLs
}

// ops are the comparisons of conditions. ">=" must come before ">", because the first sign that
// matches is taken.
var ops = []struct {
	sign  string
	limit string // how an error message describes the bound
	holds func(a, b float64) bool
}{
	{">=", "must be below", func(a, b float64) bool { return a >= b }},
	{"<=", "must be over", func(a, b float64) bool { return a <= b }},
	{">", "limit", func(a, b float64) bool { return a > b }},
	{"<", "must be at least", func(a, b float64) bool { return a < b }},
	{"=", "must not be", func(a, b float64) bool { return a == b }},
}

// ParseConditions parses conditions separated by commas. Each is a name, a comparison, and a number
// or a percentage, such as duplicates>5%,broken>0.
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
		return Condition{}, fmt.Errorf("%q is no limit: try NAME>NUMBER, such as broken>0 or duplicates>5%%", s)
	}
	c := Condition{Name: s[:at]}
	rest := s[at:]
	for _, op := range ops {
		if number, ok := strings.CutPrefix(rest, op.sign); ok {
			c.Op, rest = op.sign, number
			break
		}
	}
	number, percent := strings.CutSuffix(rest, "%")
	bound, err := strconv.ParseFloat(number, 64)
	if err != nil || !(bound >= 0) || percent && bound > 100 {
		return c, fmt.Errorf("%q: %q is no number and no percentage: try %s%s0 or %s%s5%%", s, rest, c.Name, c.Op, c.Name, c.Op)
	}
	c.Bound, c.Percent = bound, percent
	if !slices.Contains(Names(), c.Name) {
		return c, unknownName(c.Name)
	}
	return c, nil
}

// unknownName returns an error for an unknown name. It suggests the findings of a list if the name
// begins with that of a list, and all lists otherwise.
func unknownName(name string) error {
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
	return fmt.Errorf("nothing is called %q: there are %s", name, strings.Join(names, ", "))
}

// CheckName returns an error with suggestions if name is neither that of a list nor that of a
// finding.
func CheckName(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return unknownName(name)
}

// Fails returns a sentence for each condition that holds.
func (a *Audit) Fails(all []Condition) (failed []string) {
	for _, c := range all {
		n, of, also := a.counted(c.Name)
		value, shown := float64(n), report.Grouped(n)
		if c.Percent {
			value = 0
			if of > 0 {
				value = 100 * float64(n) / float64(of)
			}
			shown = fmt.Sprintf("%s (%s of %s)", report.Share(n, of), report.Grouped(n), report.Grouped(of))
		}
		for _, op := range ops {
			if op.sign == c.Op && op.holds(value, c.Bound) {
				unit := ""
				if c.Percent {
					unit = " %"
				}
				says := fmt.Sprintf("%s: %s, %s %s%s", c.Name, shown, op.limit, strconv.FormatFloat(c.Bound, 'f', -1, 64), unit)
				failed = append(failed, says+inBrackets(also))
			}
		}
	}
	return failed
}

// counted returns how many entries of a list or finding count (n), and the number of pages or URLs
// they are a share of (of). also says in words which entries do not count.
func (a *Audit) counted(name string) (n, of int64, also string) {
	l := a.List(name)
	if f := a.Find(name); f != nil && l == nil {
		l, n, also = f.list, int64(f.Count()), f.Besides()
	} else {
		n, also = int64(l.Count()), besides(l.apart(), l)
	}
	if l.Of == "URLs" {
		return n, a.URLs, also
	}
	return n, a.Pages, also
}
