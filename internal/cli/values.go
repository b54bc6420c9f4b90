package cli

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler"
	"skink/dedup"
	"skink/internal/loopback"
	"skink/report"
)

// # Values of flags
//
// Each type in this file implements pflag.Value, and determines which values a flag accepts. If the
// user gives another value, the error suggests a valid one.

// A number is the value of a flag that accepts a number between least and most.
type number[T int | int64 | float64 | time.Duration] struct {
	to          *T
	kind        string // type name in help texts
	parse       func(string) (T, error)
	format      func(T) string
	meant       func(string) string // returns a valid spelling of a value that parse rejects, such as "2h" for "2hours", or ""
	wants       string              // description of valid values, for the error if meant returns ""
	least, most T
	outside     func(T) string // returns the error message for a number below least or above most
}

func (n *number[T]) String() string { return n.format(*n.to) }
func (n *number[T]) Type() string   { return n.kind }

func (n *number[T]) Set(text string) error {
	v, err := n.parse(text)
	switch {
	case err != nil:
		if meant := n.meant(unspaced(text)); meant != "" {
			return errors.New("did you mean " + meant + "?")
		}
		return errors.New("must be " + n.wants)
	case !(n.least <= v && v <= n.most): // written so that it is also true for NaN
		return errors.New(n.outside(v))
	}
	*n.to = v
	return nil
}

// whole returns the value of a flag that accepts integers no smaller than least. The error for a
// smaller one is "must be" followed by wants.
func whole[T int | int64](to *T, least T, wants string) *number[T] {
	return &number[T]{to, "int", parseWhole[T], func(n T) string { return fmt.Sprint(n) }, meantWhole, "a whole number", least, math.MaxInt, wanting[T](wants)}
}

// lasting returns the value of a flag that accepts durations no shorter than least. The error for a
// shorter one is "must be" followed by wants.
func lasting(to *time.Duration, least time.Duration, wants string) *number[time.Duration] {
	return &number[time.Duration]{to, "duration", time.ParseDuration, time.Duration.String, meantDuration, "a duration, such as 500ms or 2s", least, math.MaxInt64, wanting[time.Duration](wants)}
}

// size returns the value of a flag that accepts a number of bytes no smaller than least, such as
// 500, 64KB, 10MB or 1GB. One KB is 1024 bytes. The error for a smaller number is "must be"
// followed by wants.
func size(to *int64, least int64, wants string) *number[int64] {
	return &number[int64]{to, "size", parseSize, report.Size, meantSize, wantSize, least, math.MaxInt64, wanting[int64](wants)}
}

const wantSize = "a size, such as 500KB or 10MB"

// ratio returns the value of a flag that accepts a number from least to 1. The function outside
// returns the error message for other numbers.
func ratio(to *float64, least float64, outside func(float64) string) *number[float64] {
	format := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return &number[float64]{to, "float64", parse, format, meantRatio, "a number, such as 0.8", least, 1, outside}
}

// similarity returns the value of a flag that accepts a resemblance, up to 1. Some users write a
// percentage, so the error for 90 suggests 0.9.
func similarity(to *float64) *number[float64] {
	least := dedup.MinSimilarity()
	return ratio(to, least, func(v float64) string {
		better := dedup.DefaultSimilarity
		if share := v / 100; v > 1 && share >= least && share <= 1 {
			better = share
		}
		return fmt.Sprintf("must be between %.2f and 1: try %v", least, better)
	})
}

// similarities is the value of a flag that accepts several resemblances, in ascending order and
// without duplicates. If the user gives none, values contains the default, which the flag's usage
// text states.
type similarities struct {
	list
	values []float64
}

func (s *similarities) Set(text string) error {
	var given []float64
	if len(s.list) > 0 {
		given = s.values
	}
	for part := range strings.SplitSeq(text, ",") {
		var v float64
		if err := similarity(&v).Set(strings.TrimSpace(part)); err != nil {
			return err
		}
		given = append(given, v)
	}
	slices.Sort(given)
	s.values = slices.Compact(given)
	return s.Append(text)
}

func (s *similarities) Type() string { return "float64" }

func wanting[T any](text string) func(T) string { return func(T) string { return "must be " + text } }

func parseWhole[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 0, 64)
	if int64(T(n)) != n {
		return 0, strconv.ErrRange
	}
	return T(n), err
}

var units = []struct {
	name  string
	bytes int64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1}}

func parseSize(text string) (int64, error) {
	number, unit := strings.ToUpper(strings.TrimSpace(text)), int64(1)
	for _, u := range units {
		if cut, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = cut, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, strconv.ErrSyntax
	}
	return n * unit, nil
}

func unspaced(text string) string { return strings.ToLower(strings.ReplaceAll(text, " ", "")) }

func meantWhole(value string) string {
	digits := strings.NewReplacer(",", "", "_", "", "'", "").Replace(value)
	digits, thousands := strings.CutSuffix(digits, "k")
	digits, millions := strings.CutSuffix(digits, "m")
	n, err := strconv.ParseInt(strings.TrimSuffix(digits, ".0"), 10, 32)
	switch {
	case err != nil:
		return ""
	case thousands:
		n *= 1e3
	case millions:
		n *= 1e6
	}
	return strconv.FormatInt(n, 10)
}

func meantRatio(value string) string {
	number, percent := strings.CutSuffix(strings.Replace(value, ",", ".", 1), "%")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return ""
	}
	if percent {
		n /= 100
	}
	return fmt.Sprint(n)
}

func meantSize(value string) string {
	n, err := parseSize(strings.Replace(value, "ib", "b", 1))
	if err != nil {
		return ""
	}
	return report.Size(n)
}

// meantDuration returns the duration that the user probably meant by a value that
// time.ParseDuration rejects: "30s" for "30", "48h" for "2d" or "2days", "5m" for "5min". It
// returns "" if it cannot guess the meaning.
func meantDuration(value string) string {
	for _, text := range []string{value, value + "s"} {
		if _, err := time.ParseDuration(text); err == nil {
			return text
		}
	}
	for _, unit := range []struct {
		name  string
		hours int
	}{{"days", 24}, {"day", 24}, {"d", 24}, {"weeks", 168}, {"week", 168}, {"w", 168}} {
		number, ok := strings.CutSuffix(value, unit.name)
		if n, err := strconv.Atoi(number); ok && err == nil {
			return strconv.Itoa(n*unit.hours) + "h"
		}
	}
	for _, unit := range []string{"hours", "hour", "minutes", "minute", "min", "seconds", "second", "sec"} {
		if number, ok := strings.CutSuffix(value, unit); ok {
			if _, err := time.ParseDuration(number + unit[:1]); err == nil {
				return number + unit[:1]
			}
		}
	}
	return ""
}

type choice[T ~string] struct {
	to *T
	of []T
}

func oneOf[T ~string](to *T, of ...T) *choice[T] { return &choice[T]{to, of} }

func (c *choice[T]) String() string { return string(*c.to) }
func (c *choice[T]) Type() string   { return strings.Join(c.words(), "|") }

func (c *choice[T]) words() (words []string) {
	for _, word := range c.of {
		words = append(words, string(word))
	}
	return words
}

func (c *choice[T]) Set(text string) error {
	if slices.Contains(c.of, T(text)) {
		*c.to = T(text)
		return nil
	}
	words := c.words()
	last := len(words) - 1
	return errors.New(didYouMean(text, words, "", "must be "+strings.Join(words[:last], ", ")+" or "+words[last]))
}

type onOff bool

func (o *onOff) String() string {
	if *o {
		return "on"
	}
	return "off"
}

func (o *onOff) Type() string { return "on|off" }

func (o *onOff) Set(text string) error {
	if text != "on" && text != "off" {
		return errors.New("must be on or off")
	}
	*o = text == "on"
	return nil
}

// A list collects the values of a flag that may be given several times. It implements most of
// [pflag.SliceValue], so that other types can embed it.
type list []string

func (l *list) String() string           { return strings.Join(*l, " ") }
func (l *list) Type() string             { return "stringArray" }
func (l *list) Append(text string) error { *l = append(*l, text); return nil }
func (l *list) Replace(all []string) error {
	*l = all
	return nil
}
func (l *list) GetSlice() []string { return *l }

type expressions struct {
	list
	compiled []*regexp.Regexp
	to       *[]*regexp.Regexp // gets the same expressions; may be nil
}

func (e *expressions) Set(text string) error {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return fmt.Errorf("not a regular expression: %w; for the syntax see https://go.dev/s/re2syntax", err)
	}
	e.compiled = append(e.compiled, compiled)
	if e.to != nil {
		*e.to = e.compiled
	}
	return e.Append(text)
}

// privateHosts is the value of a flag that names the private hosts and networks that may be
// connected to, such as localhost or 10.0.0.0/8.
type privateHosts struct {
	list
	hosts []string
	nets  []netip.Prefix
}

func (p *privateHosts) Set(text string) error {
	if net, err := netip.ParsePrefix(text); err == nil {
		p.nets = append(p.nets, net.Masked())
	} else if addr, err := netip.ParseAddr(text); err == nil {
		p.nets = append(p.nets, netip.PrefixFrom(addr, addr.BitLen()))
	} else if text == "" || strings.ContainsAny(text, "/ ") {
		return errors.New("must be a host, such as intranet.example or localhost:8080, or a CIDR range, such as 10.0.0.0/8")
	} else {
		p.hosts = append(p.hosts, text)
	}
	return p.Append(text)
}

func addPrivateFlag(flags *pflag.FlagSet) *privateHosts {
	p := &privateHosts{}
	flags.Var(p, "allow-private", "`HOST` allow connections to this private host or address range, such as localhost or 10.0.0.0/8 (repeatable)")
	return p
}

func (p *privateHosts) allow(o *crawler.Options) {
	o.AllowHosts, o.AllowNets = append(o.AllowHosts, p.hosts...), append(o.AllowNets, p.nets...)
}

// An address is the value of a flag that accepts an address to listen on. given is what the user
// typed, and full has the form HOST:PORT.
type address struct{ given, full string }

func (a *address) String() string { return a.given }
func (a *address) Type() string   { return "string" }

func (a *address) Set(text string) (err error) {
	if a.full, err = loopback.Address(text); err != nil {
		return fmt.Errorf("%w: use a port, such as 8466, or an address with a port", err)
	}
	a.given = text
	return nil
}
