package learn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

const site = "http://shop.example"

func group(text string) (g [16]byte) {
	copy(g[:], text)
	return g
}

// Copies under the same paths on another host are no evidence about the patterns of their URLs.
func TestCopiesOfAnotherHost(t *testing.T) {
	h := new(Host)
	for i := range 100 {
		path := fmt.Sprintf("/p/%d", i)
		h.Judged(site+path, Verdict{Leader: "http://www.shop.example" + path, Exact: true})
	}
	if a := h.Look(site+"/p/100", now); a.Rule != "" {
		t.Errorf("the pages of a mirror are postponed: %+v", a)
	}
}

// A memory is a Keeper in memory.
type memory map[string][]byte

func (m memory) Meta(_ context.Context, name string) ([]byte, error) { return m[name], nil }
func (m memory) Swap(_ context.Context, name string, old, value []byte) (bool, error) {
	if now, ok := m[name]; ok != (old != nil) || string(now) != string(old) {
		return false, nil
	}
	m[name] = value
	return true, nil
}

// A counting keeper adds up the sizes of the values that are written to it.
type counting struct {
	memory
	bytes int
}

func (c *counting) Swap(ctx context.Context, name string, old, value []byte) (bool, error) {
	c.bytes += len(value)
	return c.memory.Swap(ctx, name, old, value)
}

// Sync writes large evidence seldom, but never claims more than it has written: the keeper always
// has the verdicts on all records before the cursor that Sync returned.
func TestSyncWritesLittle(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(84, 0))
	keeper := &counting{memory: memory{}}
	b := NewBook(keeper)
	hosts := []string{"large.example", "slow.example", "small.example"}
	type record struct {
		host  string
		pages int64 // pages of the host that the book counts after this record
	}
	var records []record // in the order of their commits
	judge := func(host string) {
		url := fmt.Sprintf("http://%s/p%d", host, len(records))
		lines := 2
		if host == hosts[0] {
			lines = 200
		}
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "%s line %d\n", url, i)
		}
		if err := b.Judged(ctx, url, Verdict{Text: textOf(text.String())}); err != nil {
			t.Fatal(err)
		}
		records = append(records, record{host, b.hosts[host].site.Pages})
	}
	syncs, ahead := 0, 0
	for range 150 {
		for range rng.IntN(20) {
			judge(hosts[rng.IntN(2)*2])
		}
		if rng.IntN(9) == 0 {
			judge(hosts[1])
		}
		all := rng.IntN(50) == 0
		since, err := b.Sync(ctx, fmt.Sprint(len(records)), all)
		if err != nil {
			t.Fatal(err)
		}
		syncs++
		before, err := strconv.Atoi(since)
		if err != nil || all && before != len(records) {
			t.Fatalf("the cursor is %q of %d, all %t", since, len(records), all)
		}
		ahead = max(ahead, len(records)-before)
		for _, host := range hosts {
			want, got := int64(0), int64(0)
			for _, r := range records[:before] {
				if r.host == host {
					want = r.pages
				}
			}
			h, err := Read(ctx, keeper, host)
			if err != nil {
				t.Fatal(err)
			}
			if h != nil {
				got = h.Pages
			}
			if got < want {
				t.Fatalf("the keeper has %d verdicts on %s, and the cursor promises %d", got, host, want)
			}
		}
	}
	size := len(keeper.memory[NameOf(hosts[0])])
	t.Logf("%d records, %d calls of Sync: %d bytes written, evidence of up to %d bytes; the cursor was at most %d records behind", len(records), syncs, keeper.bytes, size, ahead)
	if most := syncs/maxWaited*size + len(records)*bytesAVerdict; keeper.bytes > most || size < 50_000 {
		t.Errorf("wrote %d bytes, want at most %d", keeper.bytes, most)
	}
	if ahead == 0 {
		t.Error("no verdict was ever left out")
	}
}

// Two workers that claim a host alternately share their evidence. Each writes it before it releases
// the host, and reads it again after the next claim.
func TestTwoBooks(t *testing.T) {
	ctx, keeper := t.Context(), memory{}
	books := []*Book{NewBook(keeper), NewBook(keeper)}
	for _, b := range books {
		b.Shared = true
	}
	const turns = 6
	for turn := range turns {
		b := books[turn%2]
		for i := range 10 {
			url := fmt.Sprintf("%s/p/%d-%d", site, turn, i)
			if err := b.Judged(ctx, url, Verdict{Text: textOf(url)}); err != nil {
				t.Fatal(err)
			}
			if i == 5 { // Sync writes only a part, and HandOver must write the rest
				if _, err := b.Sync(ctx, "", true); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.HandOver(ctx, "shop.example"); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Read(ctx, keeper, "shop.example")
	if err != nil || h.Pages != 10*turns {
		t.Errorf("of %d pages the last book knows %d, %v", 10*turns, h.Pages, err)
	}
}

// A book does not overwrite values that changed after its last read. The evidence of the worker
// that has claimed the host stays, and deleted evidence stays deleted.
func TestBookOverwritesNothing(t *testing.T) {
	ctx := t.Context()
	next := 0
	judged := func(b *Book, n int) {
		t.Helper()
		for i := range n {
			next++
			if err := b.Judged(ctx, fmt.Sprintf("%s/p/%d", site, next), Verdict{Text: textOf(fmt.Sprint("page ", i))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name  string
		write func(b *Book) error
	}{
		{"every now and then", func(b *Book) error { _, err := b.Sync(ctx, "", true); return err }},
		{"when it leaves", func(b *Book) error { return b.HandOver(ctx, "shop.example") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			keeper := memory{}
			slow, quick := NewBook(keeper), NewBook(keeper)
			slow.Shared, quick.Shared = true, true
			judged(slow, 1)
			judged(quick, 30)
			if _, err := quick.Sync(ctx, "", true); err != nil {
				t.Fatal(err)
			}
			if err := c.write(slow); err != nil {
				t.Fatal(err)
			}
			judged(slow, 2) // adds to the evidence that quick wrote
			if err := c.write(slow); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h.Pages != 32 {
				t.Errorf("%+v, %v", h, err)
			}
			keeper[NameOf("shop.example")] = []byte{} // this has the same effect as skink status --forget
			judged(quick, 1)
			if err := c.write(quick); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h != nil {
				t.Errorf("after it was forgotten: %+v, %v", h, err)
			}
			judged(quick, 3)
			if err := c.write(quick); err != nil {
				t.Fatal(err)
			}
			if h, err := Read(ctx, keeper, "shop.example"); err != nil || h.Pages != 3 {
				t.Errorf("learned anew: %+v, %v", h, err)
			}
		})
	}
}

// A worker that claims a host without learning anything writes a few bytes, and not the evidence. After
// a worker was killed, the next one learns the records after its cursor, and the killed one no longer
// moves the cursor.
func TestClaimsAreCheap(t *testing.T) {
	const host = "shop.example"
	ctx, keeper := t.Context(), memory{}
	book := func() *Book {
		b := NewBook(keeper)
		b.Shared = true
		return b
	}
	enter := func(b *Book, end string) (missed string) {
		t.Helper()
		missed = "nothing"
		err := b.Enter(ctx, host, func() (string, error) { return end, nil }, func(since string) error { missed = since; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return missed
	}
	judged := func(b *Book, from int) {
		t.Helper()
		for i := range 30 {
			url := fmt.Sprintf("%s/p/%d", site, from+i)
			if err := b.Judged(ctx, url, Verdict{Text: textOf(url)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first := book()
	if got := enter(first, ""); got != "nothing" { // the store is empty
		t.Errorf("the first worker missed the records after %q", got)
	}
	judged(first, 0)
	must(first.HandOver(ctx, host))

	idle := book()
	before := &keeper[NameOf(host)][0]
	if got := enter(idle, "30"); got != "nothing" {
		t.Errorf("after a worker that ended, the next missed the records after %q", got)
	}
	must(idle.HandOver(ctx, host))
	if &keeper[NameOf(host)][0] != before {
		t.Error("a worker that learned nothing wrote the evidence")
	}

	killed, next := book(), book()
	enter(killed, "30")
	judged(killed, 30) // and is killed
	if got := enter(next, "60"); got != "30" {
		t.Errorf("after a worker that was killed, the next missed the records after %q, want 30", got)
	}
	_, err := killed.Sync(ctx, "90", true) // it was only slow
	must(err)
	must(killed.HandOver(ctx, host))
	if got := enter(book(), "90"); got != "30" {
		t.Errorf("a worker without a claim moved the cursor: the next missed the records after %q, want 30", got)
	}

	keeper[NameOf(host)] = []byte{} // this has the same effect as skink status --forget
	if got := enter(book(), "90"); got != "nothing" {
		t.Errorf("after the evidence was deleted, the next worker learns the records after %q again", got)
	}
}
