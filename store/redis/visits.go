package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"skink/dedup"
	"skink/store"
)

// # What is kept of a page
//
//	v CHUNK  hash of up to 64 visits: N → place in 16 digits, the hash under which the page
//	         is posted, the visit of its leader in 6 bytes, the packed record; Ns → place, id, hash of the text, minima; Nt → "t"
//	         and the packed text, or "f" (texts.go); No → the packed links. N is the visit's number;
//	         CHUNK is N/64, so that no key grows so large that a cluster cannot move it
//	e        stream in the order of commits: PLACE-0 → number of the visit, and of a member of a
//	         cluster its leader's id and resemblance
//	f ID     set, in the partition of the id: the visits that were to be members of the
//	         cluster of that leader
//
// A place is the microsecond of the server's clock at which the page was committed, or the
// next after the last place that the partition or the worker knew of. So places of a
// partition grow, and of two pages where one was judged by the other the other has the
// lower, whatever clocks say. Two partitions may give the same.

// A visit names what was kept of a page by one attempt to commit it: the partition in
// which it is, and a number counted there. No number is given twice, and each is known
// before the attempt begins, so that postings can name it; an attempt that fails leaves a
// number that nothing will ever have. Numbers are no order: that is the place, which the
// commit gives.
type visit struct {
	part partition
	n    uint64 // from 1; 0: no visit
}

// packed is a visit as one number: 38 bits count, 10 are the partition.
func (v visit) packed() uint64 { return v.n<<partitionBits | uint64(v.part) }

func unpackVisit(packed uint64) visit {
	return visit{partition(packed % partitions), packed >> partitionBits}
}

// chunkSize is how many visits share a hash.
const chunkSize = 64

// recordAt is where the record of a visit is: a hash, and a field of it.
func (s *Store) recordAt(v visit) (chunk, field string) {
	return s.key(v.part, "v", decimal(v.n/chunkSize)), decimal(v.n)
}

func (s *Store) chunkKey(v visit) string {
	chunk, _ := s.recordAt(v)
	return chunk
}

// textMark stands before a text, so that an empty one is not none.
const textMark = "t"

// placeSize is how many digits a place has.
const placeSize = 16

// A content is what was kept of a visit.
type content struct {
	store.Content
	visit
	place uint64
	hash  dedup.Hash // under which the page is posted; zero: it is not

	// follows is the visit of the leader when the page was judged; number 0: it follows none, or
	// nobody had met it. What is there by now may be another.
	follows visit
	raw     string // the record's value
}

// A placedLeader is the sketch of a visit.
type placedLeader struct {
	store.Leader
	place uint64
}

// wholeSuffixes name the fields of a visit: its record, sketch, text and links.
var wholeSuffixes = []string{"", "s", "t", "o"}

// suffixesOf are those of the fields that are wanted.
func suffixesOf(want store.Want) []string {
	suffixes := []string{""}
	for i, part := range []store.Want{store.WantSketch, store.WantText, store.WantLinks} {
		if want&part != 0 {
			suffixes = append(suffixes, wholeSuffixes[i+1])
		}
	}
	return suffixes
}

// visits reads what was kept of visits, in their order; nil: nothing is.
func (s *Store) visits(ctx context.Context, vs []visit, want store.Want) ([]*content, error) {
	suffixes := suffixesOf(want)
	of := make([][]string, len(vs))
	for i := range of {
		of[i] = suffixes
	}
	values, err := s.fields(ctx, vs, of)
	if err != nil {
		return nil, err
	}
	all := make([]*content, len(vs))
	for i, v := range vs {
		if all[i], err = s.readContent(v, suffixes, values[i]); err != nil {
			return nil, fmt.Errorf("visit %d of partition %d: %w", v.n, v.part, err)
		}
	}
	return all, nil
}

// fields reads values of visits, of each those with some suffixes, in one round trip.
func (s *Store) fields(ctx context.Context, vs []visit, suffixes [][]string) ([][]string, error) {
	type chunk struct {
		part partition
		n    uint64
	}
	at := map[chunk][]int{}
	var order []chunk
	for i, v := range vs {
		c := chunk{v.part, v.n / chunkSize}
		if at[c] == nil {
			order = append(order, c)
		}
		at[c] = append(at[c], i)
	}
	values := make([][]string, len(vs))
	cmds := s.commands(len(order))
	for _, c := range order {
		var names []string
		for _, i := range at[c] {
			for _, suffix := range suffixes[i] {
				names = append(names, strconv.FormatUint(vs[i].n, 10)+suffix)
			}
		}
		cmds = append(cmds, s.B().Hmget().Key(s.chunkKey(vs[at[c][0]])).Field(names...).Build())
	}
	for k, result := range s.do(ctx, cmds...) {
		list, err := result.ToArray()
		if err != nil {
			return nil, explain(err)
		}
		for _, i := range at[order[k]] {
			for range suffixes[i] {
				value, _ := list[0].ToString()
				values[i], list = append(values[i], value), list[1:]
			}
		}
	}
	return values, nil
}

func (s *Store) readContent(v visit, suffixes, values []string) (*content, error) {
	if values[0] == "" {
		return nil, nil
	}
	c := &content{visit: v, raw: values[0]}
	if err := c.readRecord(values[0]); err != nil {
		return nil, err
	}
	for i, suffix := range suffixes {
		switch {
		case values[i] == "":
		case suffix == "s":
			l, err := readSketch(values[i])
			if err != nil {
				return nil, err
			}
			c.Sketch = &l.Sketch
		case suffix == "t":
			text, markdown, err := s.readText(v, values[i])
			if err != nil {
				return nil, err
			}
			c.Text, c.Markdown, c.Kept = string(text), string(markdown), true
		case suffix == "o":
			links, err := store.UnpackLinks(c.Record.URL, []byte(values[i]))
			if err != nil {
				return nil, err
			}
			c.Links = links
		}
	}
	return c, nil
}

// sketchOf reads the sketch of a visit from its field; nil: there is none.
func (s *Store) sketchOf(v visit, value string) (*placedLeader, error) {
	if value == "" {
		return nil, nil
	}
	l, err := readSketch(value)
	if err != nil {
		return nil, fmt.Errorf("visit %d of partition %d: %w", v.n, v.part, err)
	}
	s.where.put(l.ID, v)
	return l, nil
}

func readSketch(value string) (*placedLeader, error) {
	const head = placeSize + 2*len(dedup.Hash{})
	l := new(placedLeader)
	if len(value) != head+4*dedup.Minima {
		return nil, store.ErrCorrupt
	}
	l.place, _ = strconv.ParseUint(value[:placeSize], 10, 64)
	copy(l.ID[:], value[placeSize:])
	copy(l.Hash[:], value[placeSize+len(l.ID):])
	for i := range l.Sketch {
		l.Sketch[i] = binary.LittleEndian.Uint32([]byte(value[head+4*i : head+4*i+4]))
	}
	return l, nil
}

var knownScript = newScript("sums.lua", "directory.lua", "known.lua")

// knownVisit is the number of the visit in what is known of a URL.
func knownVisit(value string) uint64 {
	n, _ := strconv.ParseUint(value, 10, 64)
	return n >> 3
}

// ask asks a directory about fields, and returns what it says in their order, "" for nothing.
func (s *Store) ask(ctx context.Context, d directory, parts []partition, fields []field) ([]string, error) {
	at := map[partition][]int{}
	var steps []step
	for i, p := range parts {
		if at[p] == nil {
			steps = append(steps, step{d, p, func(l level) call { return s.asking(d, p, l, fields, at[p]) }})
		}
		at[p] = append(at[p], i)
	}
	answers, err := s.steps(ctx, steps...)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(fields))
	for k, answer := range answers {
		for j, i := range at[steps[k].part] {
			values[i] = text(answer[j+1])
		}
	}
	return values, nil
}

func (s *Store) asking(d directory, p partition, l level, fields []field, at []int) call {
	bits, splitting := l.args()
	keys, args := s.hostKeys(p), []string{string(d), bits, splitting}
	for _, i := range at {
		own, parent := s.bucketsOf(d, p, l, fields[i])
		keys, args = append(keys, own, parent), append(args, string(fields[i]))
	}
	return call{knownScript, keys, args}
}

// visitOf finds the visits that are known of pages; number 0: none is.
func (s *Store) visitOf(ctx context.Context, ids []dedup.Hash) ([]visit, error) {
	parts, err := s.partsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	var asked []int
	var in []partition
	var fields []field
	for i, id := range ids {
		if parts[i] != nowhere {
			asked, in, fields = append(asked, i), append(in, partition(parts[i])), append(fields, fieldOf(id))
		}
	}
	values, err := s.ask(ctx, known, in, fields)
	if err != nil {
		return nil, err
	}
	vs := make([]visit, len(ids))
	for k, i := range asked {
		vs[i] = visit{in[k], knownVisit(values[k])}
	}
	return vs, nil
}

// nowhere is where a page is of which nothing is known.
const nowhere = -1

// partsOf finds the partitions of pages, or nowhere: from memory, else in one round trip.
func (s *Store) partsOf(ctx context.Context, ids []dedup.Hash) ([]int, error) {
	parts := make([]int, len(ids))
	var asked []int
	var in []partition
	var fields []field
	for i, id := range ids {
		if v, ok := s.where.get(id); ok {
			parts[i] = int(v.part)
		} else {
			parts[i] = nowhere
			asked, in, fields = append(asked, i), append(in, partOfID(id)), append(fields, fieldOf(id))
		}
	}
	values, err := s.ask(ctx, located, in, fields)
	if err != nil {
		return nil, err
	}
	for k, i := range asked {
		if n, err := strconv.Atoi(values[k]); err == nil && n < partitions {
			parts[i] = n
			s.where.put(ids[i], visit{part: partition(n)})
		}
	}
	return parts, nil
}

// Pages returns what is known of pages. Those that a look-up met lately are asked for
// where they were: what is there is what there is, for a visit that another replaced is gone.
// Of the others, and of those that are there no more, it is first asked where they are. One that is
// asked for as it was when its URL was taken is read with those of the others that were, see batch.go.
func (s *Store) Pages(ctx context.Context, ids []dedup.Hash, want store.Want) ([]*store.Content, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	pages := make([]*store.Content, len(ids))
	vs := make([]visit, len(ids))
	asTaken := want&store.AsTaken != 0 && len(ids) == 1
	want &^= store.AsTaken
	if asTaken {
		switch c, known, err := s.asTaken(ctx, ids[0], want); {
		case err != nil:
			return nil, fmt.Errorf("read pages: %w", err)
		case known && c != nil:
			copied := c.Content // the commit compares the store with what was read
			pages[0] = &copied
			return pages, nil
		case known:
			return pages, nil
		}
	}
	for i, id := range ids {
		vs[i], _ = s.where.get(id)
	}
	err := s.fillPages(ctx, pages, ids, vs, want)
	if err == nil {
		err = s.findPages(ctx, pages, ids, want)
	}
	if err != nil {
		return nil, fmt.Errorf("read pages: %w", err)
	}
	return pages, nil
}

// asTaken is what was known of a page when its URL was taken here, nil if that is nothing. It says
// whether it was taken, and that is known yet.
func (s *Store) asTaken(ctx context.Context, id dedup.Hash, want store.Want) (c *content, known bool, err error) {
	if want == store.WantRecord {
		return s.knownWhenTaken(ctx, id)
	}
	was := s.stillKept(id)
	if was == nil {
		return nil, false, nil
	}
	c, err = s.whole(was, want)
	return c, true, err
}

// fillPages reads the pages that are at some visits. Where another is, its server has lost that
// visit to a failover, and has given the number again.
func (s *Store) fillPages(ctx context.Context, pages []*store.Content, ids []dedup.Hash, at []visit, want store.Want) error {
	var asked []int
	var some []visit
	for i, v := range at {
		if v.n == 0 {
			continue
		}
		read, err := s.readAlong(v, want)
		switch {
		case err != nil:
			return err
		case read != nil && read.Record.ID == ids[i]:
			pages[i] = &read.Content
		default:
			asked, some = append(asked, i), append(some, v)
		}
	}
	contents, err := s.visits(ctx, some, want)
	if err != nil {
		return err
	}
	for k, i := range asked {
		if contents[k] != nil && contents[k].Record.ID == ids[i] {
			pages[i] = &contents[k].Content
		}
	}
	return nil
}

// findPages finds and reads the pages that are still missing.
func (s *Store) findPages(ctx context.Context, pages []*store.Content, ids []dedup.Hash, want store.Want) error {
	var missing []int
	var some []dedup.Hash
	for i, page := range pages {
		if page == nil {
			missing, some = append(missing, i), append(some, ids[i])
		}
	}
	vs, err := s.visitOf(ctx, some)
	if err != nil {
		return err
	}
	found := make([]*store.Content, len(some))
	if err := s.fillPages(ctx, found, some, vs, want); err != nil {
		return err
	}
	for k, i := range missing {
		pages[i] = found[k]
	}
	return nil
}
