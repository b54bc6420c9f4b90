package postings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// Start starts an index from a manifest that names no segments, or whose segments [Index.Open] has
// opened. It removes files that the manifest does not name, and starts a goroutine that writes and
// merges segments. If the index is read-only, Start does neither. Close waits for the goroutine.
func (x *Index) Start(m Manifest) error {
	x.manifest = m
	if x.opt.ReadOnly {
		return nil
	}
	if err := x.removeOrphans(); err != nil {
		return err
	}
	x.ended.Go(func() {
		err := x.run()
		if err == nil || errors.Is(err, errClosing) {
			return
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.err = fmt.Errorf("write the index: %w", err)
		x.changed.Broadcast()
	})
	x.wakeUp() // the last process may have ended before a merge that was due
	return nil
}

// Settle waits until full tables are written as segments and no level has enough segments for
// another merge. The index must not be read-only. Settle sends three wake-ups, because the
// goroutine receives one only after it has finished the work of the previous one.
func (x *Index) Settle() {
	for range 3 {
		x.wake <- struct{}{}
	}
}

func (x *Index) run() error {
	for {
		select {
		case <-x.closing:
			return nil
		case <-x.wake:
		}
		if err := x.flush(); err != nil {
			return err
		}
		for list := x.ripe(); list != nil; list = x.ripe() {
			if err := x.merge(list); err != nil {
				return err
			}
		}
	}
}

func (x *Index) at(step string) {
	if x.opt.Step != nil {
		x.opt.Step(step)
	}
}

func (x *Index) flush() error {
	x.mu.RLock()
	t := x.full
	x.mu.RUnlock()
	if t == nil {
		return nil
	}
	list := t.postings()
	slices.SortFunc(list, comparePostings)
	s, err := x.write(len(list), 0, func(w *segmentWriter) error {
		for _, p := range list {
			w.add(p)
		}
		return w.err
	})
	if err != nil {
		return err
	}
	x.at("table written")
	return x.replace(nil, s, t)
}

// write writes a new segment file of the given level. It calls fill to add the postings to the
// file. postings is their maximum number.
func (x *Index) write(postings, level int, fill func(*segmentWriter) error) (*segment, error) {
	id := x.manifest.Next
	x.manifest.Next++
	w, err := newSegmentWriter(x.File(id), postings)
	if err != nil {
		return nil, err
	}
	err = fill(w)
	var s *segment
	if err == nil {
		s, err = w.finish()
	}
	if err != nil {
		w.abandon()
		return nil, err
	}
	s.id, s.level = id, level
	return s, nil
}

// replace replaces the segments in old with the segment by, which contains the same postings. It
// saves the new manifest first, so that the replacement survives a crash. If by was written from a
// table rather than from segments, replace empties the table for reuse.
func (x *Index) replace(old []*segment, by *segment, of *postingTable) error {
	list := slices.DeleteFunc(slices.Clone(x.segments), func(s *segment) bool { return slices.Contains(old, s) })
	list = append(list, by)
	x.manifest.Segments = nil
	for _, s := range list {
		x.manifest.Segments = append(x.manifest.Segments, SegmentEntry{s.id, s.level})
	}
	if of != nil {
		x.manifest.Last = of.nums[len(of.nums)-1]
	}
	if err := x.store.SaveManifest(x.manifest); err != nil {
		return err
	}
	x.at("manifest switched")
	x.mu.Lock()
	x.segments = list
	if of != nil {
		x.floor = max(x.floor, x.manifest.Last)
		of.reset()
		x.full, x.spare = nil, of
		x.changed.Broadcast()
	}
	x.mu.Unlock()
	return nil
}

// ripe returns the segments to merge next: all segments of the lowest level that has at least
// opt.Fan segments. It returns nil if there is no such level, or if the disk has no room for the
// merged segment.
func (x *Index) ripe() []*segment {
	byLevel := map[int][]*segment{}
	for _, s := range x.segments {
		byLevel[s.level] = append(byLevel[s.level], s)
	}
	for _, level := range slices.Sorted(maps.Keys(byLevel)) {
		list := byLevel[level]
		if len(list) < x.opt.Fan {
			continue
		}
		var size int64
		for _, s := range list {
			size += int64(s.end)
		}
		if x.store.RoomFor(size) {
			return list
		}
	}
	return nil
}

// merge writes the postings of several segments as one segment of the next level, and removes the
// old ones. Now and then it pauses to write a table that has become full, so Post need not wait for
// a long merge to end.
func (x *Index) merge(old []*segment) error {
	postings := 0
	var readers []*segmentReader
	for _, s := range old {
		postings += s.postings
		if r := (&segmentReader{s: s}); r.next() {
			readers = append(readers, r)
		} else if r.err != nil {
			return r.err
		}
	}
	s, err := x.write(postings, old[0].level+1, func(w *segmentWriter) error { return x.mergeInto(w, readers) })
	if err != nil {
		return err
	}
	x.at("merge written")
	if err := x.replace(old, s, nil); err != nil {
		return err
	}
	for _, s := range old {
		// Readers that have the file open can continue: most systems delete a file only when it is
		// closed everywhere. On other systems the file stays until the store is opened again.
		os.Remove(s.file.Name())
	}
	x.at("merged removed")
	return nil
}

func (x *Index) mergeInto(w *segmentWriter, readers []*segmentReader) error {
	for n := 1; len(readers) > 0 && w.err == nil; n++ {
		first := 0
		for i, r := range readers[1:] {
			if comparePostings(r.p, readers[first].p) < 0 {
				first = i + 1
			}
		}
		r := readers[first]
		if !x.isGone(r.p.num) {
			w.add(r.p)
		}
		if !r.next() {
			if r.err != nil {
				return r.err
			}
			readers = slices.Delete(readers, first, first+1)
		}
		if n%pauseEach == 0 {
			if err := x.pause(); err != nil {
				return err
			}
		}
	}
	return w.err
}

// pauseEach is the number of postings that a merge writes between calls to pause.
const pauseEach = 1024

// pause interrupts a merge to write the full table, if any. It returns errClosing if the index is
// being closed.
func (x *Index) pause() error {
	select {
	case <-x.closing:
		return errClosing
	default:
	}
	return x.flush()
}

var errClosing = errors.New("store is being closed")
