package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"skink/frontier"
	"skink/internal/session"
)

const usualRetry = "failed,given-up"

// addBackFlags adds the flags of skink crawl for fetching URLs of an earlier run again: --retry tries
// failed, blocked or left-out URLs again, and --recrawl revisits fetched pages.
func addBackFlags(flags *pflag.FlagSet, o *session.Options) {
	b := &o.Again
	flags.StringVar(&b.Retry, "retry", "", "`STATES` fetch URLs in these states again (comma-separated): failed, given-up, blocked, outside, or all; --retry alone means failed,given-up")
	flags.Lookup("retry").NoOptDefVal = usualRetry
	flags.StringVar(&b.Recrawl, "recrawl", "", "`AGE` revisit pages that were last visited more than AGE ago, such as 36h or 7d; or, with due, as often as each seems to change")
	flags.Var(lasting(&b.Schedule.Least, 1, "longer than 0, such as 1h"), "recrawl-min", "with --recrawl due: wait at least this long between visits to a page")
	flags.Var(lasting(&b.Schedule.Most, 1, "longer than 0, such as 720h"), "recrawl-max", "with --recrawl due: wait at most this long between visits to a page")
	flags.Var(whole(&o.GoneAfter, 1, "1 or more"), "gone-after", "treat a page as gone after this many failed visits in a row, or after a single response with status 404 or 410")
}

// settleBack checks the flags, and completes what the crawl must fetch again. pflag cannot give
// --retry an optional value as a separate word, so in "skink crawl --retry failed" the word
// "failed" ends up in args. If a word of args is a list of states, settleBack uses it as the value of
// --retry. rest is args without that word.
func settleBack(b *session.Again, args []string) (rest []string, err error) {
	if b.Retry == usualRetry {
		if i := slices.IndexFunc(args, func(arg string) bool { _, err := parseStates(arg); return err == nil }); i >= 0 {
			b.Retry, args = args[i], slices.Delete(slices.Clone(args), i, i+1)
		}
	}
	if b.Retry != "" {
		if b.States, err = parseStates(b.Retry); err != nil {
			return args, err
		}
	}
	if s := b.Schedule; s.Least > s.Most {
		return args, usagef("--recrawl-min %v is longer than --recrawl-max %v: try 1h and 720h", s.Least, s.Most)
	}
	if b.Due = b.Recrawl == "due"; b.Recrawl != "" && !b.Due {
		if b.Age, err = parseAge(b.Recrawl); err != nil {
			return args, usagef("--recrawl %q: must be due, or an age such as 36h or 7d", b.Recrawl)
		}
	}
	return args, nil
}

func parseStates(text string) (states []frontier.State, err error) {
	for word := range strings.SplitSeq(text, ",") {
		if word == "all" {
			return session.Retried, nil
		}
		i := slices.IndexFunc(session.Retried, func(s frontier.State) bool { return session.NameOf(s) == word })
		if i < 0 {
			return nil, usagef("--retry %q: must be failed, given-up, blocked, outside or all", text)
		}
		states = append(states, session.Retried[i])
	}
	return states, nil
}

// parseAge parses an age of 0 or more, such as "36h", "7d" or "2w".
func parseAge(text string) (time.Duration, error) {
	age, err := parseDuration(strings.ToLower(text))
	if err == nil && age < 0 {
		err = errors.New("a negative age")
	}
	return age, err
}
