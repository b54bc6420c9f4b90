package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// didYouMean returns a question with the most likely intended name, or otherwise if none is near.
func didYouMean(word string, names []string, dashes, otherwise string) string {
	if name := nearest(word, names); name != "" {
		return "did you mean " + dashes + name + "?"
	}
	return otherwise
}

// nearest returns the name that differs from a word by one or two typing errors. If there is none,
// it returns the shortest name with a part that equals the word or begins with it, such as
// --max-pages for --pages, or "".
func nearest(word string, names []string) string {
	word = strings.ToLower(word)
	best, fewest := "", max(1, len(word)/3)+1
	for _, name := range names {
		if n := slips(word, name); n < fewest {
			best, fewest = name, n
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, name := range names {
		part := slices.ContainsFunc(strings.Split(name, "-"), func(p string) bool { return strings.HasPrefix(p, word) })
		if part && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	return best
}

// slips returns how many letters must be inserted, deleted, changed or swapped with their neighbour
// to turn one word into another (the Damerau–Levenshtein distance, with each pair swapped at most
// once).
func slips(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := range len(a) {
		for j := range len(b) {
			n := min(rows[i][j+1], rows[i+1][j]) + 1
			if a[i] == b[j] {
				n = min(n, rows[i][j])
			} else {
				n = min(n, rows[i][j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				n = min(n, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = n
		}
	}
	return rows[len(a)][len(b)]
}

// flagError returns an error with the values that a flag accepts; pflag only names the parser that
// failed.
func flagError(err error, command string, flags *pflag.FlagSet) error {
	more := "try skink " + command + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		return fmt.Errorf("%w: %s", err, didYouMean(unknown.GetSpecifiedName(), names, "--", more))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return fmt.Errorf("%w: %s", err, more)
	}
	kind, value := invalid.GetFlag().Value.Type(), invalid.GetValue()
	wants := map[string]string{
		"int":      "a whole number",
		"int64":    "a whole number",
		"intSlice": "whole numbers, such as 3 or 3,5,8",
		"float64":  "a number, such as 0.8",
		"duration": "a duration, such as 500ms or 2s",
		"size":     "a size, such as 500KB or 10MB",
		"bool":     "true or false",
		"on|off":   "on or off",
	}[kind]
	if better := meant(kind, value); better != "" {
		wants = better
	}
	return fmt.Errorf("--%s %q: try %s", invalid.GetFlag().Name, value, wants)
}

// meant returns a valid spelling of a value, or "" if the intended value is unknown.
func meant(kind, value string) string {
	value = strings.ToLower(strings.ReplaceAll(value, " ", ""))
	switch kind {
	case "int", "int64":
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
	case "float64":
		number, percent := strings.CutSuffix(strings.Replace(value, ",", ".", 1), "%")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return ""
		}
		if percent {
			n /= 100
		}
		return fmt.Sprint(n)
	case "duration":
		return meantDuration(value)
	case "size":
		var s size
		if s.Set(strings.Replace(value, "ib", "b", 1)) != nil {
			return ""
		}
		return s.String()
	}
	return ""
}

// meantDuration reads a bare number as seconds, and also accepts days.
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
