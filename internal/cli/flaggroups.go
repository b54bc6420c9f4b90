package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// A flagGroup is a section of a command's help: a heading, an example, and some flags.
type flagGroup struct {
	heading string
	example string // a command line that uses flags of the section
	common  string // names of the flags that the short help lists, separated by spaces
	rare    string // names of the flags that only --help --all lists
}

// flagGroups holds the sections in the help of each command that has many flags, by the command's
// name. Each flag of such a command is in exactly one section.
var flagGroups = map[string][]flagGroup{
	"crawl": {
		{
			heading: "What to crawl",
			example: `skink crawl --scope prefix --exclude '\.php' --max-pages 1000 https://example.org/docs/`,
			common:  "scope exclude max-pages recrawl",
			rare: "include documents render max-depth max-time max-bytes max-host-pages max-host-bytes sitemaps from add retry " +
				"recrawl-least recrawl-most gone-after check-assets check-external",
		},
		{
			heading: "Politeness",
			example: "skink crawl --delay 2s --contact bot@example.org https://example.org/",
			common:  "delay contact",
			rare:    "max-delay per-host per-ip timeout retries user-agent proxy ca-file cookies sign-key sign-agent obey-nofollow ignore-nofollow ignore-robots",
		},
		{
			heading: "Duplicates",
			example: "skink crawl --similarity 0.9 --on-duplicate skip https://example.org/ https://example.com/",
			common:  "similarity on-duplicate",
			rare:    "prefer min-words shingle unit form scheme",
		},
		{
			heading: "Output",
			example: "skink crawl --feed pages.jsonl --view https://example.org/",
			common:  "feed view",
			rare:    "markdown pictures metrics log-format log-urls quiet",
		},
		{
			heading: "Storage",
			example: "skink crawl --store docs --warc archive https://example.org/",
			common:  "store",
			rare:    "config warc warc-size warc-digest links",
		},
		{
			heading: "Advanced",
			example: "skink crawl --store docs --budget off",
			common:  "budget",
			rare:    "learn worker parallel connections memory max-size grace allow-private help",
		},
	},
	"dedup": {
		{
			heading: "What to read",
			example: "skink dedup --text-field abstract --id-field doi papers.jsonl.zst",
			common:  "include exclude text-field id-field",
			rare:    "documents strict max-bad",
		},
		{
			heading: "Duplicates",
			example: "skink dedup --keep longest --unique kept.jsonl pages.jsonl",
			common:  "similarity keep against",
			rare:    "rule containment min-words shingle unit form scheme",
		},
		{
			heading: "Output",
			example: "skink dedup --unique kept.jsonl.gz pages.jsonl.gz",
			common:  "unique duplicates pairs format out",
			rare:    "annotate top quiet",
		},
		{
			heading: "Storage and advanced",
			example: "skink dedup --store corpus --memory 4GB texts",
			common:  "store",
			rare:    "config memory help",
		},
	},
	"compare": {
		{
			heading: "What to compare",
			example: "skink compare --store docs https://example.org/a https://example.org/b",
			common:  "store allow-private",
		},
		{
			heading: "Duplicates",
			example: "skink compare --similarity 0.9 testdata/site/nature/fog.html testdata/site/print/fog.html",
			common:  "similarity min-words",
			rare:    "shingle unit form scheme profile config",
		},
		{
			heading: "Output",
			example: "skink compare --html both.html testdata/site/nature/fog.html testdata/site/print/fog.html",
			common:  "html json check",
			rare:    "help",
		},
	},
	"export": {
		{
			heading: "What to write",
			example: "skink export --cursor pages.cursor --out pages.jsonl",
			common:  "store include without since cursor",
			rare:    "min-words with-private",
		},
		{
			heading: "Output",
			example: "skink export --format parquet --out pages.parquet",
			common:  "format out to markdown chunks",
			rare:    "chunk-words fields links warc print-mapping",
		},
		{
			heading: "Duplicates",
			example: "skink export --complete --strip-repeated --out pages.jsonl",
			common:  "complete strip-repeated",
			rare:    "whole-text similarity config help",
		},
	},
}

// groups returns the sections of the command's help. A command that is not in flagGroups gets one
// section with all of its flags.
func (c command) groups(flags *pflag.FlagSet) []flagGroup {
	if groups, ok := flagGroups[c.name]; ok {
		return groups
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return []flagGroup{{heading: "Flags", common: strings.Join(names, " ")}}
}
