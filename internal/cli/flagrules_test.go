package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFlagRulesNameFlags checks that each flag in a rule is a flag of its command, and accepts the
// value that the rule names.
func TestFlagRulesNameFlags(t *testing.T) {
	for _, c := range commands() {
		for _, r := range c.rules {
			for _, name := range slices.Concat(strings.Split(r.flags, ","), strings.Split(r.others, ",")) {
				flags, _ := c.newFlags()
				flag, value, exact := strings.Cut(name, "=")
				if flags.Lookup(flag) == nil {
					t.Errorf("skink %s has no flag --%s, which is in the rule %v", c.name, flag, r)
				} else if err := flags.Set(flag, value); exact && err != nil {
					t.Errorf("skink %s --%s %s, in the rule %v: %v", c.name, flag, value, r, err)
				}
			}
		}
	}
}

// TestUse checks which flags and how many arguments are refused. A configuration file may contain
// flags that only other runs need.
func TestUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skink.toml")
	config := "scope = \"any\"\nimages = true\nrequisites = true\n[dedup]\nformat = \"json\"\nkeep = \"longest\"\n[export]\nformat = \"parquet\"\n"
	if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ line, want string }{
		{"crawl --images", "--images requires --markdown"},
		{"crawl --images --markdown", ""},
		{"crawl --warc dir --config FILE", ""},
		{"crawl --config FILE", "--requisites (FILE:3) requires --warc"},
		{"crawl --from x --warc dir --config FILE", "--from and --warc cannot be used together: pages are read from an archive instead of being fetched"},
		{"crawl --from x --requisites=false --config FILE", ""},
		{"crawl --from x --scope domain", "--from and --scope cannot be used together: pages are read from an archive instead of being fetched"},
		{"crawl --recrawl 7d --recrawl-min 2h", "--recrawl-min requires --recrawl due"},
		{"crawl --recrawl due --recrawl-min 2h", ""},
		{"crawl --log-urls --log-format json --quiet", "--log-urls and --quiet cannot be used together"},
		{"dedup --pairs --config FILE --keep first x", ""},
		{"dedup --pairs --config FILE x", "--keep (FILE:6) and --pairs cannot be used together: no text is kept or dropped"},
		{"dedup --pairs --top 3 x", "--pairs and --top cannot be used together: no report is printed"},
		{"dedup --annotate x", "--annotate requires --unique or --out-dir or --duplicates"},
		{"export --format parquet --out -", "--format parquet requires --out: the output is binary"},
		{"export --format parquet --out x.parquet", ""},
		{"export --config FILE", "--format parquet (FILE:8) requires --out: the output is binary"},
		{"export --links absolute", ""}, // the default
		{"report x", `unexpected argument "x": specify a store with --store`},
		{"version x", `unexpected argument "x"`},
		{"compare a", "compare needs A B, got 1 argument: try skink compare --help"},
		{"compare a b c", "compare needs A B, got 3 arguments: try skink compare --help"},
		{"extract", "extract needs PAGE..., got 0 arguments: try skink extract --help"},
		{"extract a b c", ""},
		{"crawl a b", ""},
		{"tune", "tune needs PAIRS, got 0 arguments: try skink tune --help"},
	} {
		words := strings.Fields(strings.ReplaceAll(test.line, "FILE", file))
		i := slices.IndexFunc(commands(), func(c command) bool { return c.name == words[0] })
		c := commands()[i]
		flags, _ := c.newFlags()
		if err := flags.Parse(words[1:]); err != nil {
			t.Fatalf("%s: %v", test.line, err)
		}
		if err := c.configure(flags); err != nil {
			t.Fatalf("%s: %v", test.line, err)
		}
		got := ""
		if err := c.checkUse(flags); err != nil {
			got = strings.ReplaceAll(err.Error(), file, "FILE")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}
