package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"skink/dedup"
	"skink/report"
	"skink/store"
)

// asked is a store that counts the calls of Pages and Members.
type asked struct {
	store.Reader
	pages, members int
}

func (a *asked) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	a.pages++
	return a.Reader.Pages(ctx, ids, want)
}

func (a *asked) Members(ctx context.Context, leaders []dedup.Hash) iter.Seq2[*store.Record, error] {
	a.members++
	return a.Reader.Members(ctx, leaders)
}

// Small clusters must be read together and a large one alone, and each must have the right members.
func TestClustersInBatches(t *testing.T) {
	var records []numbered
	num := uint64(0)
	next := func() uint64 { num++; return num }
	for i, size := range append([]int{1500, 1025, 700, 700, 3}, slices.Repeat([]int{1}, 600)...) {
		leader := next()
		records = append(records, page(leader, fmt.Sprintf("https://example.com/%d", i), "", dedup.Unique))
		for m := range size {
			url := fmt.Sprintf("https://example.com/%d/%d", i, m)
			records = append(records, copyOf(leader, page(next(), url, "", dedup.Near), 0.9))
		}
	}
	src := &asked{Reader: fill(t, records)}
	var got report.Report
	text := writeSource(t, report.FromStore(src), report.Options{Format: report.JSON})
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Clusters) != 605 {
		t.Fatalf("%d clusters, want 605", len(got.Clusters))
	}
	for i, c := range got.Clusters {
		for m, member := range c.Members {
			if want := fmt.Sprintf("https://example.com/%d/%d", i, m); member.URL != want {
				t.Fatalf("cluster %d has %s in place %d, want %s", i, member.URL, m, want)
			}
		}
	}
	// The batches are three large clusters alone, then one of 700 with 255 small ones, then 256, then
	// the rest. The members of the two largest clusters are not kept in memory, so they are read
	// twice: once for the list, and once to find out why the leader leads.
	if src.pages != 6 || src.members != 8 {
		t.Errorf("the leaders were asked for in %d questions, the members in %d; want 6 and 8", src.pages, src.members)
	}
	// For HTML, only the members of the displayed clusters must be read.
	src.pages, src.members = 0, 0
	var page bytes.Buffer
	opt := report.Options{Format: report.HTML, Top: 2}
	if err := report.Write(t.Context(), &page, report.FromStore(src), opt); err != nil {
		t.Fatal(err)
	}
	if src.members != 4 {
		t.Errorf("the members of two clusters were asked for in %d questions", src.members)
	}
}
