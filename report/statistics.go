package report

import (
	"bufio"
	"cmp"
	"io"
	"maps"
	"slices"
)

// Statistics counts the records of a corpus in three ways: all of them, those of each input file, and those of
// each language.
type Statistics map[statistic]*statisticCount

type statistic struct{ group, name, outcome, verdict string }

type statisticCount struct{ records, words, bytes int64 }

// Take counts a record.
func (s Statistics) Take(input, language, verdict string, kept bool, words, bytes int) {
	outcome := "removed"
	if kept {
		outcome = "kept"
	}
	for _, of := range []statistic{{"all", "", outcome, verdict}, {"input", input, outcome, verdict}, {"language", language, outcome, verdict}} {
		if s[of] == nil {
			s[of] = &statisticCount{}
		}
		s[of].records++
		s[of].words += int64(words)
		s[of].bytes += int64(bytes)
	}
}

// Benchmark adds an item of a benchmark with its number of words, and the number of records that have words of it.
func (s Statistics) Benchmark(id, outcome string, records int64, words int) {
	s[statistic{"benchmark", id, outcome, ""}] = &statisticCount{records: records, words: int64(words)}
}

// Write writes the statistics as CSV, sorted by group, name, outcome and verdict.
func (s Statistics) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	sheet, err := NewSheet(out, nil, "group", "name", "outcome", "verdict", "records", "words", "bytes")
	for _, of := range slices.SortedFunc(maps.Keys(s), func(a, b statistic) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.name, b.name), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.verdict, b.verdict))
	}) {
		if n := s[of]; err == nil {
			err = sheet.Row(of.group, of.name, of.outcome, of.verdict, n.records, n.words, n.bytes)
		}
	}
	return cmp.Or(err, sheet.End(), out.Flush())
}
