package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

type flagGroup struct {
	heading string
	example string   // command line that uses flags of the section
	common  []string // names of the flags in the short help
	rare    []string // names of the flags that only --help --all lists
}

// section returns a group. The names of its flags are separated by spaces.
func section(heading, example, common, rare string) flagGroup {
	return flagGroup{heading, example, strings.Fields(common), strings.Fields(rare)}
}

// flagGroups contains, by command name, the sections in the help of commands with many flags. Each
// flag of such a command is in exactly one section.
var flagGroups = map[string][]flagGroup{
	"crawl": {
		section("What to crawl", `skink crawl --scope prefix --exclude '\.php' --max-pages 1000 https://example.org/docs/`,
			"scope exclude max-pages recrawl audit",
			"include documents render max-depth max-time max-bytes max-host-pages max-host-bytes sitemaps from add retry "+
				"recrawl-min recrawl-max forever gone-after check-assets check-external"),
		section("Politeness", "skink crawl --delay 2s --contact bot@example.org https://example.org/",
			"delay contact",
			"max-delay max-rate max-host-rate per-host per-ip timeout retries user-agent proxy ca-file insecure cookies obey-nofollow ignore-nofollow ignore-robots"),
		section("Duplicates", "skink crawl --similarity 0.9 --on-duplicate skip https://example.org/ https://example.com/",
			"similarity on-duplicate", "prefer rule containment min-words shingle unit scheme"),
		section("Output", "skink crawl --feed pages.jsonl --view https://example.org/",
			"feed view", "markdown images metrics metrics-host log-format log-urls crawl-log quiet"),
		section("Storage", "skink crawl --store docs --warc archive https://example.org/",
			"store", "config warc warc-size warc-revisits warc-refers warc-info requisites screenshots max-host-requisites links store-patience"),
		section("Advanced", "skink crawl --store docs --budget off",
			"budget", "learn worker parallel connections memory max-size max-file-size grace allow-private help"),
	},
	"dedup": {
		section("What to read", "skink dedup --text-field abstract --id-field doi papers.jsonl.zst",
			"include exclude text-field id-field", "documents max-bad"),
		section("Duplicates", "skink dedup --keep longest --unique kept.jsonl pages.jsonl",
			"similarity keep within", "by-id against within-words min-left decontaminate ngram on-contaminated rule containment min-words shingle unit scheme"),
		section("Output", "skink dedup --unique kept.jsonl.gz pages.jsonl.gz",
			"unique duplicates pairs format out", "out-dir annotate statistics top quiet"),
		section("Storage and advanced options", "skink dedup --store corpus --memory 4GB texts",
			"store", "config memory help"),
	},
	"tune": {
		section("Labeled pairs", "skink tune --unit word --test testdata/judged.jsonl.zst testdata/pairs.jsonl",
			"measure unit shingle similarity test scores json", ""),
		section("Corpora", "skink tune --corpus --svg schemes.svg testdata/site",
			"corpus svg", "include exclude text-field id-field max-bad config help"),
	},
	"compare": {
		section("What to compare", "skink compare --store docs https://example.org/a https://example.org/b",
			"store allow-private", ""),
		section("Duplicates", "skink compare --similarity 0.9 testdata/site/nature/fog.html testdata/site/print/fog.html",
			"similarity min-words", "rule containment shingle unit scheme config"),
		section("Output", "skink compare --html both.html testdata/site/nature/fog.html testdata/site/print/fog.html",
			"html json check", "help"),
	},
	"report": {
		section("What to report", "skink report --about broken --format csv --out broken.csv",
			"store about segment changes since fail-on complete similarity prefer format top out", "memory config help"),
	},
	"export": {
		section("What to write", "skink export --cursor pages.cursor --out pages.jsonl",
			"store include segment without since cursor", "min-words with-private"),
		section("Output", "skink export --format parquet --out pages.parquet",
			"format out to markdown chunks", "chunk-words fields links warc warc-refers refused print-mapping"),
		section("Duplicates", "skink export --complete --out pages.jsonl",
			"complete", "similarity prefer memory config help"),
	},
}

// groups returns the sections of the command's help. A command that is not in flagGroups gets one
// section with all its flags.
func (c command) groups(flags *pflag.FlagSet) []flagGroup {
	if groups, ok := flagGroups[c.name]; ok {
		return groups
	}
	return []flagGroup{{heading: "Flags", common: namesOf(visible(flags), func(f *pflag.Flag) string { return f.Name })}}
}
