package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hbollon/go-edlib"
	"github.com/spf13/pflag"
)

// didYouMean returns "did you mean NAME?" with the name that is most similar to word, or fallback
// if no name is similar. dashes is put before the name, and is "--" for flags.
func didYouMean(word string, names []string, dashes, fallback string) string {
	if name := nearest(word, names); name != "" {
		return "did you mean " + dashes + name + "?"
	}
	return fallback
}

// nearest returns the name that word probably misspells, or of which it misspells a part between dashes, such as
// max-pages for pages. If there is none, it returns "".
func nearest(word string, names []string) string {
	best, most := "", float32(.84) // Jaro-Winkler similarity
	for _, name := range names {
		for _, part := range append(strings.Split(name, "-"), name) {
			if s := edlib.JaroWinklerSimilarity(strings.ToLower(word), part); s > most || s == most && len(name) < len(best) {
				best, most = name, s
			}
		}
	}
	return best
}

// flagError returns an error that names the values a flag accepts. err is the error from pflag,
// which names only the function that failed to parse the value.
func flagError(err error, command string, flags *pflag.FlagSet) error {
	more := "try skink " + command + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		names := namesOf(visible(flags), func(f *pflag.Flag) string { return f.Name })
		return fmt.Errorf("%w: %s", err, didYouMean(unknown.GetSpecifiedName(), names, "--", more))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return fmt.Errorf("%w: %s", err, more)
	}
	name, value, why := invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap()
	if invalid.GetFlag().Value.Type() == "bool" {
		why = errors.New("must be true or false")
	}
	return fmt.Errorf("--%s %q: %w", name, value, why)
}
