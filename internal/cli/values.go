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

	"skink/base/loopback"
	"skink/crawler"
	"skink/crawler/access"
	"skink/dedup"
	"skink/internal/session"
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
	wants       string // description of valid values, for the error if parse fails
	least, most T
	bounds      string // description of the numbers from least to most
}

func (n *number[T]) String() string { return n.format(*n.to) }
func (n *number[T]) Type() string   { return n.kind }

func (n *number[T]) Set(text string) error {
	v, err := n.parse(text)
	switch {
	case err != nil:
		return errors.New("must be " + n.wants)
	case !(n.least <= v && v <= n.most): // written so that it is also true for NaN
		return errors.New("must be " + n.bounds)
	}
	*n.to = v
	return nil
}

// whole returns the value of a flag that accepts integers no smaller than least, which bounds
// describes.
func whole[T int | int64](to *T, least T, bounds string) *number[T] {
	return &number[T]{to, "N", parseWhole[T], func(n T) string { return fmt.Sprint(n) }, "a whole number", least, math.MaxInt, bounds}
}

// lasting returns the value of a flag that accepts durations no shorter than least, which bounds
// describes.
func lasting(to *time.Duration, least time.Duration, bounds string) *number[time.Duration] {
	return &number[time.Duration]{to, "DURATION", parseDuration, time.Duration.String, "a duration, such as 500ms, 2s or 7d", least, math.MaxInt64, bounds}
}

// size returns the value of a flag that accepts a number of bytes no smaller than least, such as
// 500, 64KB, 10MB or 1GB. One KB is 1024 bytes. bounds describes the accepted numbers.
func size(to *int64, least int64, bounds string) *number[int64] {
	return &number[int64]{to, "SIZE", parseSize, report.Size, wantSize, least, math.MaxInt64, bounds}
}

const wantSize = "a size, such as 500KB or 10MB"

// A rate is the value of a flag that accepts a budget of requests, such as 20000/24h, or 0 for no limit.
type rate struct{ to *access.Rate }

func (r rate) Type() string { return "rate" }

func (r rate) String() string {
	if r.to == nil || r.to.N == 0 {
		return "0"
	}
	return fmt.Sprintf("%d/%v", r.to.N, r.to.Per)
}

func (r rate) Set(text string) error {
	n, per, _ := strings.Cut(text, "/")
	number, err := strconv.ParseInt(n, 10, 64)
	period, wrong := parseDuration(per)
	switch {
	case text == "0":
		number, period = 0, 0
	case err != nil, wrong != nil, number < 1, period <= 0:
		return errors.New("must be a number of requests and a period, such as 20000/24h")
	}
	*r.to = access.Rate{N: number, Per: period}
	return nil
}

// ratio returns the value of a flag that accepts a number from least to 1, which bounds describes.
func ratio(to *float64, least float64, bounds string) *number[float64] {
	format := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return &number[float64]{to, "NUMBER", parse, format, "a number, such as 0.8", least, 1, bounds}
}

// similarity returns the value of a flag that accepts a resemblance, up to 1.
func similarity(to *float64) *number[float64] {
	least := dedup.MinSimilarity()
	return ratio(to, least, fmt.Sprintf("between %.2f and 1: try %v", least, dedup.DefaultSimilarity))
}

func parseWhole[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 0, 64)
	if int64(T(n)) != n {
		return 0, strconv.ErrRange
	}
	return T(n), err
}

var sizes = regexp.MustCompile(`^(\+?\d+)\s*([KMG]?)B?$`)

// parseSize parses a number of bytes, such as "500", "500KB" or "10 M". A kilobyte has 1,024 bytes.
func parseSize(text string) (int64, error) {
	parts := sizes.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(text)))
	if parts == nil {
		return 0, strconv.ErrSyntax
	}
	shift := 10 * strings.Index(" KMG", parts[2]) // 0 without a unit
	n, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || n > 1<<62>>shift {
		return 0, strconv.ErrRange
	}
	return n << shift, nil
}

// parseDuration parses a duration such as "500ms" or "36h", or a number of days or weeks such as
// "7d" or "2w".
func parseDuration(text string) (time.Duration, error) {
	for unit, hours := range map[string]int64{"d": 24, "w": 168} {
		number, ok := strings.CutSuffix(text, unit)
		if n, err := strconv.ParseInt(number, 10, 32); ok && err == nil {
			text = strconv.FormatInt(n*hours, 10) + "h"
		}
	}
	return time.ParseDuration(text)
}

type choice[T ~string] struct {
	to *T
	of []T
}

func oneOf[T ~string](to *T, of ...T) *choice[T] { return &choice[T]{to, of} }

func (c *choice[T]) String() string { return string(*c.to) }
func (c *choice[T]) Type() string   { return strings.Join(wordsOf(c.of), "|") }

func (c *choice[T]) Set(text string) (err error) {
	if err = checkWord(text, c.of); err == nil {
		*c.to = T(text)
	}
	return err
}

// checkWord returns an error if text is none of the words.
func checkWord[T ~string](text string, of []T) error {
	if slices.Contains(of, T(text)) {
		return nil
	}
	words := wordsOf(of)
	last := len(words) - 1
	return errors.New(didYouMean(text, words, "", "must be "+strings.Join(words[:last], ", ")+" or "+words[last]))
}

func wordsOf[T ~string](words []T) []string {
	return namesOf(words, func(word T) string { return string(word) })
}

// An onOff is the value of a flag that is on or off.
type onOff struct{ to *bool }

func (o onOff) String() string { return session.OnOff(*o.to) }
func (o onOff) Type() string   { return "on|off" }

func (o onOff) Set(text string) error {
	if text != "on" && text != "off" {
		return errors.New("must be on or off")
	}
	*o.to = text == "on"
	return nil
}

// A list is the value of a flag that may be given several times. It implements [pflag.SliceValue].
type list struct {
	kind   string                  // type name in help texts
	words  []string                // the values as typed, or the defaults if none was given
	commas bool                    // whether one value may contain several words, separated by commas
	add    func(word string) error // checks and takes a word

	given bool // whether words are not the defaults
}

// several returns the value of a flag that takes some of the given words, and stores them in *to in place of the
// defaults.
func several[T ~string](to *[]T, of []T) *list {
	l := &list{kind: "stringSlice", words: wordsOf(*to), commas: true}
	l.add = func(word string) error {
		if !l.given {
			*to = nil
		}
		*to = append(*to, T(word))
		return checkWord(word, of)
	}
	return l
}

func (l *list) Type() string               { return l.kind }
func (l *list) GetSlice() []string         { return l.words }
func (l *list) Replace(all []string) error { l.words = all; return nil }

func (l *list) String() string {
	if l.commas {
		return strings.Join(l.words, ",")
	}
	return strings.Join(l.words, " ")
}

func (l *list) Append(word string) error {
	if err := l.add(word); err != nil {
		return err
	}
	if !l.given {
		l.words, l.given = nil, true
	}
	l.words = append(l.words, word)
	return nil
}

func (l *list) Set(text string) error {
	if !l.commas {
		return l.Append(text)
	}
	for word := range strings.SplitSeq(text, ",") {
		if err := l.Append(strings.TrimSpace(word)); err != nil {
			return err
		}
	}
	return nil
}

// pattern is the type name of lists of regular expressions.
const pattern = "regexp"

// expressions returns the value of a flag that takes regular expressions, and adds them to *to.
func expressions(to *[]*regexp.Regexp) *list {
	return &list{kind: pattern, add: func(text string) error {
		compiled, err := regexp.Compile(text)
		if err != nil {
			return fmt.Errorf("not a regular expression: %w; for the syntax see https://go.dev/s/re2syntax", err)
		}
		*to = append(*to, compiled)
		return nil
	}}
}

// addPrivateFlag adds the flag that names the private hosts and networks that may be connected to,
// such as localhost or 10.0.0.0/8.
func addPrivateFlag(flags *pflag.FlagSet, o *crawler.Options) {
	flags.Var(&list{kind: "stringArray", add: func(text string) error {
		if net, err := netip.ParsePrefix(text); err == nil {
			o.AllowNets = append(o.AllowNets, net.Masked())
		} else if addr, err := netip.ParseAddr(text); err == nil {
			o.AllowNets = append(o.AllowNets, netip.PrefixFrom(addr, addr.BitLen()))
		} else if text == "" || strings.ContainsAny(text, "/ ") {
			return errors.New("must be a host, such as intranet.example or localhost:8080, or a CIDR range, such as 10.0.0.0/8")
		} else {
			o.AllowHosts = append(o.AllowHosts, text)
		}
		return nil
	}}, "allow-private", "`HOST` allow connections to this private host or address range, such as localhost or 10.0.0.0/8 (repeatable)")
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
