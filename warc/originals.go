package warc

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// # What revisit records refer to
//
// A revisit record with the profile identical-payload-digest has no payload. Another record has it,
// perhaps in another file, with another URL. Readers that show one URL at a time follow
// WARC-Refers-To-Target-URI and WARC-Refers-To-Date. A reader of whole archives needs only the digest:
// each response with the same digest has the payload. [Originals] finds one by an index in memory, with
// 24 bytes for each response. It checks the digest in the record that it finds, so an old index does no
// harm.

// Originals finds the responses with the payloads of revisit records. It reads the indexes of its
// archives when it is first asked. A nil *Originals finds nothing. Its methods are safe for concurrent
// use.
type Originals struct {
	archives []Archive
	once     sync.Once
	places   []payloadAt // sorted by payload
}

type payloadAt struct {
	payload uint64 // hash of the digest
	archive int32
	offset  int64
}

// NewOriginals returns the Originals of the given archives.
func NewOriginals(archives []Archive) *Originals { return &Originals{archives: archives} }

// An Original is a response that [Originals.Find] has found. Its block can be read until it is closed.
type Original struct {
	*Record
	io.Closer
	File string // name of the archive
}

// Find returns the response with the given payload digest, or nil if there is none that can be read.
func (o *Originals) Find(digest string) *Original {
	if o == nil || digest == "" {
		return nil
	}
	o.once.Do(o.index)
	key := payloadKey(digest)
	i, _ := slices.BinarySearchFunc(o.places, key, func(p payloadAt, key uint64) int { return cmp.Compare(p.payload, key) })
	for ; i < len(o.places) && o.places[i].payload == key; i++ {
		p := o.places[i]
		if found := o.archives[p.archive].At(p.offset); found != nil {
			if found.Type() == Response && bare(found.Header.Get("WARC-Payload-Digest")) == bare(digest) {
				return found
			}
			found.Close()
		}
	}
	return nil
}

// Empty reports whether there are no archives.
func (o *Originals) Empty() bool { return o == nil || len(o.archives) == 0 }

// index reads the indexes of all archives. It passes over what it cannot read.
func (o *Originals) index() {
	for i, a := range o.archives {
		for _, e := range a.entries() {
			if e.Status != 0 && e.MIME != typeRevisit && e.Digest != "" && e.Method == "" { // players look for a POST response under another URL
				o.places = append(o.places, payloadAt{payloadKey(e.Digest), int32(i), e.Offset})
			}
		}
	}
	slices.SortStableFunc(o.places, func(a, b payloadAt) int { return cmp.Compare(a.payload, b.payload) })
}

func payloadKey(digest string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, bare(digest))
	return h.Sum64()
}

// bare returns a digest without the name of its algorithm, which some tools leave out.
func bare(digest string) string { return digest[strings.LastIndexByte(digest, ':')+1:] }

func (a *Archive) entries() (entries []Entry) {
	if a.Index != nil {
		if f, err := a.Index(); err == nil {
			entries, err = ReadIndex(f)
			f.Close()
			if err == nil {
				return entries
			}
		}
	}
	_ = a.read(func(r io.Reader) (err error) {
		entries, err = IndexOf(r, a.Name, func(*Damage) {})
		return err
	})
	return entries
}

// At returns the record at an offset, or nil if it cannot be read.
func (a *Archive) At(offset int64) *Original {
	f, err := a.Open()
	if err != nil {
		return nil
	}
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, f, offset)
	}
	if err == nil {
		r := NewReader(f)
		r.src.base, r.src.off = offset, offset
		var rec *Record
		if rec, err = r.Next(); err == nil {
			return &Original{rec, f, a.Name}
		}
	}
	f.Close()
	return nil
}

// IsCopy reports whether r is a revisit record of a payload that another record has.
func (r *Record) IsCopy() bool {
	return r.Type() == Revisit && strings.HasSuffix(r.Header.Get("WARC-Profile"), "/identical-payload-digest")
}

// Whole returns the response that stands for a revisit record: it has the revisit's header and HTTP head,
// and the payload of o. If the server said that the page had not changed, it has the whole block of o.
// Its block can be read until o is closed.
func (o *Original) Whole(revisit *Record) (*Record, error) {
	whole := &Record{Offset: revisit.Offset, Block: o.Block}
	whole.Header.Add("WARC-Type", string(Response))
	for _, f := range revisit.Header {
		switch name := strings.ToLower(f.Name); {
		case name == "warc-type", name == "warc-profile", name == "warc-block-digest", name == "warc-truncated", name == "content-length", strings.HasPrefix(name, "warc-refers-to"):
		default:
			whole.Header = append(whole.Header, f)
		}
	}
	head, err := io.ReadAll(io.LimitReader(revisit.Block, maxHead))
	if err != nil || len(head) == 0 || !revisit.IsCopy() {
		return whole, err
	}
	in := bufio.NewReader(o.Block)
	for lines := (headReader{in, maxHead}); ; {
		line, err := lines.line()
		if err != nil {
			return nil, fmt.Errorf("read the response to which a revisit refers: %w", err)
		}
		if line == "" {
			break
		}
	}
	if !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		head = append(bytes.TrimRight(head, "\r\n"), "\r\n\r\n"...)
	}
	whole.Block = io.MultiReader(bytes.NewReader(head), in)
	return whole, nil
}

// ReadIndex reads a CDXJ index.
func ReadIndex(r io.Reader) (entries []Entry, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxHead)
	for lines.Scan() {
		_, rest, _ := strings.Cut(lines.Text(), " ")
		date, text, _ := strings.Cut(rest, " ")
		var e Entry
		if e.Date, err = time.Parse("20060102150405", date); err == nil {
			err = json.Unmarshal([]byte(text), &e)
		}
		if err != nil {
			return nil, fmt.Errorf("read an index: %w", err)
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}
