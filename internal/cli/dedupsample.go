package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"skink/base/harmless"
	"skink/dedup"
	"skink/report"
	"skink/store"
)

// Limits on the part of a cluster that is printed for inspection.
const (
	sampleMembers     = 5   // number of members
	sampleDifferences = 3   // number of differences between a member and the leader
	sampleText        = 300 // size of a text or of a difference in bytes
)

// writeSample writes n clusters of s to w, so that a person can check whether their texts are
// duplicates. It chooses those whose leaders have the lowest IDs. An ID is a hash, so the choice is
// random, but the same input always gives the same sample.
func writeSample(ctx context.Context, w io.Writer, s store.Reader, n int) error {
	var some []store.Cluster
	all := 0
	for c, err := range s.Clusters(ctx) {
		if err != nil {
			return err
		}
		all++
		at, _ := slices.BinarySearchFunc(some, c, func(a, b store.Cluster) int { return bytes.Compare(a.Leader[:], b.Leader[:]) })
		if at == n {
			continue
		}
		some = slices.Insert(some, at, c)
		some = some[:min(len(some), n)]
	}
	guard := harmless.Text(w)
	out := bufio.NewWriter(guard)
	fmt.Fprintf(out, "sample: %d of %s\n", len(some), report.Counted(all, "cluster"))
	for _, c := range some {
		if err := writeSampled(ctx, out, s, c); err != nil {
			return err
		}
	}
	return keepFirst(out.Flush(), guard.Flush())
}

func writeSampled(ctx context.Context, out io.Writer, s store.Reader, c store.Cluster) error {
	leader, err := textOf(ctx, s, c.Leader)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nkept  %s\n      %s\n", leader.Record.URL, shortened(leader.Text))
	shown := 0
	for r, err := range s.Members(ctx, []dedup.Hash{c.Leader}) {
		if err != nil {
			return err
		}
		if shown == sampleMembers {
			fmt.Fprintf(out, "  and %s more\n", report.Grouped(c.Members-shown))
			break
		}
		shown++
		fmt.Fprintf(out, "  %-5s %s  %s\n", r.Verdict, report.Decimals(r.Resemblance, 3), r.URL)
		if r.Verdict != dedup.Near {
			continue
		}
		member, err := textOf(ctx, s, r.ID)
		if err != nil {
			return err
		}
		if !member.Kept {
			continue
		}
		for _, d := range report.Differ(leader.Text, member.Text, sampleDifferences) {
			for _, side := range []struct{ mark, text string }{{"-", d.Removed}, {"+", d.Added}} {
				if side.text != "" {
					fmt.Fprintf(out, "      %s %s\n", side.mark, shortened(side.text))
				}
			}
		}
	}
	return nil
}

func textOf(ctx context.Context, s store.Reader, id dedup.Hash) (*store.Content, error) {
	pages, err := s.Pages(ctx, []dedup.Hash{id}, store.WantText)
	if err != nil {
		return nil, err
	}
	if pages[0] == nil {
		return nil, fmt.Errorf("%w: a cluster has no leader", store.ErrCorrupt)
	}
	return pages[0], nil
}

func shortened(text string) string {
	line := strings.Join(strings.Fields(text[:min(len(text), 4*sampleText)]), " ")
	if len(line) <= sampleText {
		return line
	}
	return strings.ToValidUTF8(line[:sampleText], "") + "…"
}
