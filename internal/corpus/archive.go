package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"skink/crawler"
	"skink/document"
	"skink/extract"
	"skink/warc"
)

// # Web archives
//
// Only records of a web archive that may contain the text of a page are read: responses, resources
// (files without a response), and conversions (WET texts). All other records are skipped. A
// response is handled as in a crawl, with its headers, so errors and redirects are skipped too. A
// Writer writes a record unchanged, header and block, after the warcinfo record of its file. That
// record may say that the records after it are private, so it is written whenever it changes.

const archiveStart = 64 << 10

// An archived holds what is needed to write an archive record again, except its block.
type archived struct {
	head   warc.Header
	offset int64
	info   *warc.Record // nil if the file has no warcinfo record
	block  []byte       // the block of info
}

func (in *Inputs) readArchive(i input, f io.Reader, yield func(*Record, error) bool, failed func(error) bool) bool {
	r := warc.NewReader(f)
	var info *warc.Record
	var infoBlock []byte
	for n := 1; ; n++ {
		rec, err := r.Next()
		damage, damaged := errors.AsType[*warc.Damage](err)
		switch {
		case err == io.EOF:
			return true
		case damaged && !damage.Lost():
			if in.Odd != nil && damage.Err == warc.ErrLength {
				in.Odd(fmt.Errorf("%s: %w", i, damage))
			}
			continue
		case damaged:
			if !yield(&Record{Input: i.name, Line: n, archived: &archived{offset: damage.Offset}, bad: damage.Err}, nil) {
				return false
			}
			continue
		case err != nil:
			return failed(err)
		}
		switch rec.Type() {
		case warc.Info:
			if infoBlock, err = io.ReadAll(io.LimitReader(rec.Block, int64(in.maxRecord()))); err == nil {
				info = rec
			}
			continue
		case warc.Response, warc.Resource, warc.Conversion:
			if Accompanies(rec) {
				continue
			}
		case warc.Revisit:
			if rec = in.whole(rec); rec == nil {
				in.passOver("revisit")
				continue
			}
		default:
			if other, ok := OtherType(rec).(*PassedError); ok && !Accompanies(rec) {
				in.passOver(other.Kind)
			}
			continue
		}
		one := &Record{Input: i.name, Line: n, archived: &archived{rec.Header, rec.Offset, info, infoBlock}, documents: in.Documents}
		one.Raw, err = io.ReadAll(io.LimitReader(rec.Block, int64(in.maxRecord())+1))
		damage, damaged = errors.AsType[*warc.Damage](err)
		switch {
		case damaged:
			one.bad = damage.Err
		case err != nil:
			return failed(err)
		case len(one.Raw) > in.maxRecord():
			one.Raw, one.bad = nil, tooLong(in.maxRecord())
		}
		if !yield(one, nil) {
			return false
		}
	}
}

// whole returns the response for a revisit record, with the block in memory. It returns nil if the page
// was visited before, or if no input has the payload.
func (in *Inputs) whole(rec *warc.Record) *warc.Record {
	if !isCopy(rec) {
		return nil
	}
	in.once.Do(func() { in.originals = Originals(in.archives()) })
	original := in.originals.Find(rec.Header.Get("WARC-Payload-Digest"))
	if original == nil {
		return nil
	}
	defer original.Close()
	whole, err := original.Whole(rec)
	if err != nil {
		return nil
	}
	block, err := io.ReadAll(io.LimitReader(whole.Block, int64(in.maxRecord())+1))
	if whole.Block = bytes.NewReader(block); err != nil {
		return nil
	}
	return whole
}

// archives returns the web archives among the files.
func (in *Inputs) archives() (all []Archive) {
	for i, err := range in.files(func(error) {}, func(string) {}) {
		if err == nil && i.object != nil && isArchiveName(i.name) {
			all = append(all, Archive{i.name, func() (io.ReadCloser, error) { return i.object.Open(context.Background()), nil }})
		} else if err == nil && i.name != "-" && i.object == nil {
			of, _ := filesIn(i.name) // a file that cannot be read is reported when it is read for its texts
			all = append(all, of...)
		}
	}
	return all
}

func (a *archived) private() bool {
	if a.info == nil {
		return isPrivate(nil, a.head)
	}
	return isPrivate(a.info.Header, a.head)
}

// The result can be read or written once.
func (a *archived) record(block []byte) *warc.Record {
	return &warc.Record{Header: a.head, Block: bytes.NewReader(block), Offset: a.offset}
}

func (a *archived) text(ctx context.Context, documents *document.Reader, ask extract.Options, block []byte) (Text, error) {
	rec := a.record(block)
	page, err := PageOf(rec, crawler.Defaults())
	switch {
	case err != nil:
		return Text{}, err
	case page == nil:
		return Text{}, &PassedError{Kind: "no page"}
	case page.Problem == crawler.ProblemStatus:
		return Text{}, &PassedError{Kind: fmt.Sprintf("status %d", page.Status)}
	case page.Problem != "":
		return Text{}, &PassedError{Kind: string(page.Problem)}
	case page.Location != "":
		return Text{}, &PassedError{Kind: "redirect"}
	}
	t, err := fileText(ctx, documents, ask, page.Item.URL, page.Body, page.Header.Get("Content-Type"))
	t.Header = page.Header
	return t, err
}

type archiveSink struct {
	to    *warc.Writer
	name  string
	begun bool
	info  *warc.Record // the warcinfo record that was written last; nil if the input had none
}

// introduce writes the warcinfo record of the next record, unless it was the last one written.
func (s *archiveSink) introduce(a *archived) error {
	if s.begun && s.info == a.info {
		return nil
	}
	s.begun, s.info = true, a.info
	if a.info != nil {
		return s.to.Write(&warc.Record{Header: a.info.Header, Block: bytes.NewReader(a.block)})
	}
	info, err := warc.NewInfo(filepath.Base(s.name), a.record(nil).Date(), nil)
	if err != nil {
		return err
	}
	return s.to.Write(info)
}

func (s *archiveSink) write(r *Record, note Note, annotate bool) error {
	if r.archived == nil {
		return fmt.Errorf("%s is not a record of a web archive: write these inputs to separate files", r.Place())
	}
	if err := s.introduce(r.archived); err != nil {
		return err
	}
	rec := r.archived.record(r.Raw)
	if err := s.to.Write(rec); err != nil || !annotate {
		return err
	}
	remark, err := json.Marshal(note)
	if err != nil {
		return err
	}
	about := warc.New(warc.Metadata, rec.URI(), rec.Date(), TypeRemark, remark)
	about.Header.Add("WARC-Refers-To", rec.ID())
	return s.to.Write(about)
}

func (s *archiveSink) close() error { return nil }
