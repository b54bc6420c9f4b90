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

// flagGroups contains, by command name, the sections in the help of commands with many flags. Each
// flag of such a command is in exactly one section.
var flagGroups = map[string][]flagGroup{
	"crawl": {
		{
			heading: "What to crawl",
			example: `skink crawl --scope prefix --exclude '\.php' --max-pages 1000 https://example.org/docs/`,
			common:  strings.Fields("scope exclude max-pages recrawl audit"),
			rare: strings.Fields("include documents render max-depth max-time max-bytes max-host-pages max-host-bytes sitemaps from add retry " +
				"recrawl-min recrawl-max forever gone-after check-assets check-external"),
		},
		{
			heading: "Politeness",
			example: "skink crawl --delay 2s --contact bot@example.org https://example.org/",
			common:  strings.Fields("delay contact"),
			rare:    strings.Fields("max-delay max-rate max-host-rate per-host per-ip timeout retries user-agent proxy ca-file insecure cookies obey-nofollow ignore-nofollow ignore-robots"),
		},
		{
			heading: "Duplicates",
			example: "skink crawl --similarity 0.9 --on-duplicate skip https://example.org/ https://example.com/",
			common:  strings.Fields("similarity on-duplicate"),
			rare:    strings.Fields("prefer rule containment min-words shingle unit form scheme"),
		},
		{
			heading: "Output",
			example: "skink crawl --feed pages.jsonl --view https://example.org/",
			common:  strings.Fields("feed view"),
			rare:    strings.Fields("markdown images metrics metrics-host log-format log-urls crawl-log quiet"),
		},
		{
			heading: "Storage",
			example: "skink crawl --store docs --warc archive https://example.org/",
			common:  strings.Fields("store"),
			rare:    strings.Fields("config warc warc-size warc-digest warc-revisits warc-refers warc-info requisites screenshots max-host-requisites links store-patience"),
		},
		{
			heading: "Advanced",
			example: "skink crawl --store docs --budget off",
			common:  strings.Fields("budget"),
			rare:    strings.Fields("learn worker parallel connections memory max-size max-file-size grace allow-private help"),
		},
	},
	"dedup": {
		{
			heading: "What to read",
			example: "skink dedup --text-field abstract --id-field doi papers.jsonl.zst",
			common:  strings.Fields("include exclude text-field id-field"),
			rare:    strings.Fields("documents max-bad"),
		},
		{
			heading: "Duplicates",
			example: "skink dedup --keep longest --unique kept.jsonl pages.jsonl",
			common:  strings.Fields("similarity keep against"),
			rare:    strings.Fields("rule containment min-words shingle unit form scheme"),
		},
		{
			heading: "Output",
			example: "skink dedup --unique kept.jsonl.gz pages.jsonl.gz",
			common:  strings.Fields("unique duplicates pairs format out"),
			rare:    strings.Fields("out-dir annotate top quiet"),
		},
		{
			heading: "Storage and advanced options",
			example: "skink dedup --store corpus --memory 4GB texts",
			common:  strings.Fields("store"),
			rare:    strings.Fields("config memory help"),
		},
	},
	"compare": {
		{
			heading: "What to compare",
			example: "skink compare --store docs https://example.org/a https://example.org/b",
			common:  strings.Fields("store allow-private"),
		},
		{
			heading: "Duplicates",
			example: "skink compare --similarity 0.9 testdata/site/nature/fog.html testdata/site/print/fog.html",
			common:  strings.Fields("similarity min-words"),
			rare:    strings.Fields("rule containment shingle unit form scheme config"),
		},
		{
			heading: "Output",
			example: "skink compare --html both.html testdata/site/nature/fog.html testdata/site/print/fog.html",
			common:  strings.Fields("html json check"),
			rare:    strings.Fields("help"),
		},
	},
	"report": {
		{
			heading: "What to report",
			example: "skink report --about broken --format csv --out broken.csv",
			common:  strings.Fields("store about changes since fail-on complete similarity prefer format top out"),
			rare:    strings.Fields("memory config help"),
		},
	},
	"export": {
		{
			heading: "What to write",
			example: "skink export --cursor pages.cursor --out pages.jsonl",
			common:  strings.Fields("store include without since cursor"),
			rare:    strings.Fields("min-words with-private"),
		},
		{
			heading: "Output",
			example: "skink export --format parquet --out pages.parquet",
			common:  strings.Fields("format out to markdown chunks"),
			rare:    strings.Fields("chunk-words fields links warc warc-refers refused print-mapping"),
		},
		{
			heading: "Duplicates",
			example: "skink export --complete --out pages.jsonl",
			common:  strings.Fields("complete"),
			rare:    strings.Fields("similarity prefer memory config help"),
		},
	},
}

// groups returns the sections of the command's help. A command that is not in flagGroups gets one
// section with all its flags.
func (c command) groups(flags *pflag.FlagSet) []flagGroup {
	if groups, ok := flagGroups[c.name]; ok {
		return groups
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return []flagGroup{{heading: "Flags", common: names}}
}
