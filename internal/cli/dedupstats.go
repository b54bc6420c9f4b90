package cli

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"maps"
	"slices"

	"skink/internal/corpus"
	"skink/internal/decontaminate"
	"skink/internal/output"
	"skink/report"
	"skink/store"
)

// A statistic counts the records of one group with one verdict.
type statistic struct{ records, words, bytes int64 }

// A statisticOf identifies a statistic. The records are grouped in three ways: all of them, those of each input
// file, and those of each language.
type statisticOf struct {
	group, name, outcome, verdict string
}

type statistics map[statisticOf]*statistic

func (s statistics) take(r *corpus.Record, page *store.Record, verdict string, kept bool) {
	outcome := "removed"
	if kept {
		outcome = "kept"
	}
	for _, of := range []statisticOf{{"all", "", outcome, verdict}, {"input", r.Input, outcome, verdict}, {"language", page.Lang, outcome, verdict}} {
		if s[of] == nil {
			s[of] = &statistic{}
		}
		s[of].records++
		s[of].words += int64(page.Words)
		s[of].bytes += int64(r.Size())
	}
}

// addBenchmark adds the items of a benchmark, with the words of each and the number of contaminated records.
func (s statistics) addBenchmark(screen *decontaminate.Screen) {
	for _, i := range screen.Items() {
		s[statisticOf{"benchmark", i.ID, i.Outcome(), ""}] = &statistic{records: i.Records.Load(), words: int64(i.Words)}
	}
}

// write writes the statistics as CSV, sorted by group, name, outcome and verdict.
func (s statistics) write(ctx context.Context, to *output.File) error {
	order := slices.SortedFunc(maps.Keys(s), func(a, b statisticOf) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.name, b.name), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.verdict, b.verdict))
	})
	return to.Write(ctx, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		sheet, err := report.NewSheet(out, nil, "group", "name", "outcome", "verdict", "records", "words", "bytes")
		for _, of := range order {
			if n := s[of]; err == nil {
				err = sheet.Row(of.group, of.name, of.outcome, of.verdict, n.records, n.words, n.bytes)
			}
		}
		return cmp.Or(err, sheet.End(), out.Flush())
	})
}
