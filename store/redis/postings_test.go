package redis

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"skink/store/redis/redistest"
)

// in is a list of a partition.
func in(p partition, n uint64) listID {
	return listID(uint64(p)<<(64-partitionBits) | mixed(n)>>partitionBits)
}

func mustPost(t *testing.T, s *Store, tk ticket, stands ...stand) [][]ticket {
	t.Helper()
	before, err := (servers{Store: s}).post(t.Context(), tk, stands)
	if err != nil {
		t.Fatal(err)
	}
	return before
}

// readAll reads lists, all of each.
func readAll(t *testing.T, s *Store, lists ...listID) [][]ticket {
	t.Helper()
	var reads []*listRead
	for _, l := range lists {
		reads = append(reads, &listRead{list: l, limit: 1 << 20})
	}
	if err := s.readLists(t.Context(), reads); err != nil {
		t.Fatal(err)
	}
	var all [][]ticket
	for _, r := range reads {
		if r.more {
			t.Errorf("list %x has more", r.list)
		}
		all = append(all, r.tickets)
	}
	return all
}

func posting(l listID) stand { return stand{list: l, post: true, heed: true} }

// TestListsAreWhatWasPosted posts to a thousand lists of one partition, so that its
// buckets are split several times, some of them long, and takes some of it back.
func TestListsAreWhatWasPosted(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s, other := openNew(t, addrs), (*Store)(nil)
		other = openNamed(t, addrs, string(s.keyspace)) // knows no depths
		const lists, tickets = 1000, 600
		r := rand.New(rand.NewPCG(1, 2))
		want := map[listID][]ticket{}
		var all []listID
		for n := range lists {
			all = append(all, in(partition(n%2), uint64(n)))
		}
		for n := range tickets {
			tk := visit{partition(n % partitions), uint64(n + 1)}.ticket()
			by := s
			if n%7 == 0 {
				by = other
			}
			stands := []stand{posting(all[0])} // which becomes long
			for range 9 {
				if l := posting(all[1+r.IntN(lists-1)]); !slices.Contains(stands, l) {
					stands = append(stands, l)
				}
			}
			for i, before := range mustPost(t, by, tk, stands...) {
				l := stands[i].list
				if !slices.Equal(before, want[l]) {
					t.Fatalf("before ticket %d in list %x stand %v, want %v", tk, l, before, want[l])
				}
				want[l] = append(want[l], tk)
			}
			if n%5 == 0 {
				var lists []listID
				for _, st := range stands[:4] {
					lists = append(lists, st.list)
					want[st.list] = slices.DeleteFunc(want[st.list], func(o ticket) bool { return o == tk })
				}
				if err := (servers{Store: s}).remove(t.Context(), tk, lists); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, by := range []*Store{s, other, openNamed(t, addrs, string(s.keyspace))} {
			for i, got := range readAll(t, by, all...) {
				if !slices.Equal(got, want[all[i]]) {
					t.Errorf("list %x has %v, want %v", all[i], got, want[all[i]])
				}
			}
		}
		if d := s.depths.of(all[0]); d < 2 {
			t.Errorf("the buckets are %d deep: they were to be split", d)
		}
	})
}

// TestPostAgainAnswersTheSame is what happens when an answer is lost on its way.
func TestPostAgainAnswersTheSame(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		l := in(3, 1)
		for n := ticket(1); n < 30; n++ {
			mustPost(t, s, n, posting(l))
			if n > 2 {
				again := mustPost(t, s, n-1, posting(l))[0]
				if len(again) != int(n-2) {
					t.Errorf("again before %d stand %v", n-1, again)
				}
			}
		}
		if got := readAll(t, s, l)[0]; len(got) != 29 {
			t.Errorf("%d postings, want 29", len(got))
		}
	})
}

// TestPostAnswersWhatCameSince asks from what a look-up saw, also when that is gone.
func TestPostAnswersWhatCameSince(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		for _, length := range []ticket{4, 40} { // in a bucket, and long
			l := in(4, uint64(length))
			for n := ticket(1); n <= length; n++ {
				mustPost(t, s, n, posting(l))
			}
			since := stand{list: l, heed: true, seen: seen{3, 3}}
			if got := mustPost(t, s, 99, since)[0]; len(got) != int(length-3) {
				t.Errorf("since 3 came %v", got)
			}
			if err := (servers{Store: s}).remove(t.Context(), 2, []listID{l}); err != nil {
				t.Fatal(err)
			}
			if got := mustPost(t, s, 99, since)[0]; len(got) != int(length-1) {
				t.Errorf("after one was removed, all should be answered: %v", got)
			}
		}
	})
}

// TestOfAllWhoPostEachSeesThoseBefore posts from many goroutines while buckets are split.
func TestOfAllWhoPostEachSeesThoseBefore(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		const workers, rounds, lists = 4, 100, 5
		before := make([]map[ticket][][]ticket, workers)
		var wg sync.WaitGroup
		for w := range workers {
			before[w] = map[ticket][][]ticket{}
			wg.Go(func() {
				for n := range rounds {
					tk := visit{partition(w), uint64(n + 1)}.ticket()
					var stands []stand
					for i := range lists {
						stands = append(stands, posting(in(5, uint64(i))))
					}
					stands = append(stands, posting(in(5, 100+uint64(tk))))
					answer, err := (servers{Store: s}).post(t.Context(), tk, stands)
					if err != nil {
						t.Error(err)
						return
					}
					before[w][tk] = answer
				}
			})
		}
		wg.Wait()
		for i := range lists {
			list := readAll(t, s, in(5, uint64(i)))[0]
			if len(list) != workers*rounds {
				t.Fatalf("list %d has %d postings, want %d", i, len(list), workers*rounds)
			}
			for at, tk := range list {
				if got := before[tk.visit().part][tk][i]; !slices.Equal(got, list[:at]) {
					t.Fatalf("before ticket %d in list %d stood %v, its answer was %v", tk, i, list[:at], got)
				}
			}
		}
	})
}

// TestAFateIsForGood voids what is undecided, and nothing that is in the store.
func TestAFateIsForGood(t *testing.T) {
	onEach(t, func(t *testing.T, addrs string) {
		s := openNew(t, addrs)
		b := servers{Store: s}
		is, open := visit{7, 1}, visit{7, 2}
		chunk, field := s.recordAt(is)
		if err := firstError(s.do(t.Context(), s.B().Hset().Key(chunk).FieldValue().FieldValue(field, "a record").Build())); err != nil {
			t.Fatal(err)
		}
		both := []ticket{is.ticket(), open.ticket()}
		for _, step := range []struct {
			what string
			want []fate
		}{
			{"fates", []fate{decided, undecided}},
			{"voids", []fate{decided, void}},
			{"voids", []fate{decided, void}},
			{"fates", []fate{decided, void}},
		} {
			ask := b.fates
			if step.what == "voids" {
				ask = b.voids
			}
			got, err := ask(t.Context(), both)
			if err != nil || !slices.Equal(got, step.want) {
				t.Errorf("%s are %v, %v, want %v", step.what, got, err, step.want)
			}
		}
	})
}

// TestMarksArePacked packs and unpacks.
func TestMarksArePacked(t *testing.T) {
	m := mark{lists: map[listID]seen{1: {2, 3}, 1 << 63: {4, 5}}, leaders: nil}
	got := unpack(m.pack())
	if got.lists[1] != m.lists[1] || got.lists[1<<63] != m.lists[1<<63] || len(got.lists) != 2 || len(got.leaders) != 0 {
		t.Errorf("unpacked %v", got)
	}
	if none := (&mark{}).pack(); none == "" {
		t.Error("a mark that saw nothing is the empty one")
	}
}

// TestAKeyOfTheIndexIsSmall measures what a key costs a server that has nothing else: its
// field, its posting, and its share of buckets, at several fillings of the buckets.
func TestAKeyOfTheIndexIsSmall(t *testing.T) {
	needRedis(t)
	server := redistest.Start(t)
	s := openNew(t, server.Addr)
	most, steps := 40_000, 1
	if os.Getenv("SKINK_LONG") == "full" {
		most, steps = 1_000_000, 10
	}
	empty, n := usedMemory(t, s), 0
	for step := range steps {
		for ; n < most*(step+1)/steps; n += mostInCall {
			var stands []stand
			for i := range mostInCall {
				stands = append(stands, stand{list: in(partition((n+i)%16), uint64(n+i)), post: true, heed: true})
			}
			mustPost(t, s, visit{5, uint64(n + 1)}.ticket(), stands...)
		}
		bytes := float64(usedMemory(t, s)-empty) / float64(n)
		t.Logf("%d keys: %.1f bytes each", n, bytes)
		if bytes > 24 {
			t.Errorf("a key takes %.1f bytes", bytes)
		}
	}
}

func usedMemory(t *testing.T, s *Store) int64 {
	t.Helper()
	for _, node := range s.Nodes() {
		text, err := node.Do(t.Context(), node.B().Info().Section("memory").Build()).ToString()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(infoOf(text)["used_memory"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatal("no server")
	return 0
}
