package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skink/report"
)

// A Condition is a bound that a site must keep, such as broken>0: if it holds, the site has failed.
type Condition struct {
	Name    string // of a list or a finding
	Op      string // > >= < <= or =
	Bound   float64
	Percent bool // Bound is percent of the whole that the list is of
}

// ops are the comparisons, longer ones first.
var ops = []struct {
	sign  string
	limit string // in words
	holds func(a, b float64) bool
}{
	{">=", "must be below", func(a, b float64) bool { return a >= b }},
	{"<=", "must be over", func(a, b float64) bool { return a <= b }},
	{">", "limit", func(a, b float64) bool { return a > b }},
	{"<", "must be at least", func(a, b float64) bool { return a < b }},
	{"=", "must not be", func(a, b float64) bool { return a == b }},
}

// ParseConditions reads conditions with commas between them: NAME, a comparison, and a number or a
// number of percent, as in duplicates>5%,broken>0.
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
		return Condition{}, fmt.Errorf("%q is not a limit: try NAME>NUMBER, such as broken>0 or duplicates>5%%", s)
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
		return c, fmt.Errorf("%q: %q is neither a number nor a percentage: try %s%s0 or %s%s5%%", s, rest, c.Name, c.Op, c.Name, c.Op)
	}
	c.Bound, c.Percent = bound, percent
	if !slices.Contains(Names(), c.Name) {
		return c, unknownName(c.Name)
	}
	return c, nil
}

// unknownName names what there is: the findings of a list if the name begins with one, else the
// lists.
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

// CheckName returns an error that names what there is, if a name is neither that of a list nor that
// of a finding.
func CheckName(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return unknownName(name)
}

// Fails says in words which conditions hold.
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

// counted is how many entries count of a list or a finding, of how many, and which do not count.
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
