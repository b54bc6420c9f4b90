package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"skink/dedup"
)

// # Records as JSON
//
// Every page that is committed is written as JSON. encoding/json visits all fields of a Record by
// reflection, and most are empty. With fifty fields that took a twelfth of the processor time of an
// index of pages without text. So this code writes the fields one by one, in the order of the
// struct. The bytes are those of encoding/json without its escapes for HTML, which URLs would need
// often. Rare fields still go through encoding/json. A test sets every field and compares, so it
// fails if a field is missing here.

// AppendJSON appends the record as JSON to b. It fails for a time or a number that JSON cannot
// express.
func (r *Record) AppendJSON(b []byte) ([]byte, error) {
	w := jsonWriter{b: b}
	w.b = append(w.b, '{')
	w.hash("id", r.ID)
	w.text("url", r.URL)
	w.some("via", r.Via)
	w.text("kind", string(r.Kind))
	w.some("problem", r.Problem)
	w.some("detail", r.Detail)
	w.time("fetched_at", r.FetchedAt)
	w.number("status", int64(r.Status))
	w.some("location", r.Location)
	w.some("content_type", r.ContentType)
	w.number("took", r.Took)
	w.number("depth", int64(r.Depth))
	w.number("hops", int64(r.Hops))
	w.number("tries", int64(r.Tries))
	w.number("size", r.Size)
	w.flag("truncated", r.Truncated)
	w.flag("checked", r.Checked)

	w.some("canonical_url", r.CanonicalURL)
	w.list("canonicals", r.Canonicals)
	if len(r.Alternates) > 0 {
		w.any("alternates", r.Alternates)
	}
	w.some("lang", r.Lang)
	w.some("title", r.Title)
	w.list("h1", r.H1)
	w.some("title_from", r.TitleFrom)
	w.some("description", r.Description)
	w.flag("shared_only", r.SharedOnly)
	w.some("author", r.Author)
	w.some("published_at", r.PublishedAt)
	w.some("modified_at", r.ModifiedAt)
	w.some("site_name", r.SiteName)
	w.some("root", r.Root)
	w.flag("noindex", r.NoIndex)
	w.flag("other_lang", r.OtherLang)
	w.flag("listed", r.Listed)
	w.some("dead_end", r.DeadEnd)
	w.some("bounds", r.Bounds)

	w.number("words", int64(r.Words))
	w.someHash("hash", r.Hash)
	w.number("left_words", int64(r.LeftWords))
	w.someHash("left_hash", r.LeftHash)
	w.some("verdict", string(r.Verdict))
	w.someHash("leader", r.Leader)
	w.some("duplicate_of", r.DuplicateOf)
	w.share("resemblance", r.Resemblance)
	w.some("found", string(r.Found))
	w.flag("capped", r.Capped)
	w.flag("no_text", r.NoText)

	if r.Archive != (Archived{}) {
		w.any("archive", r.Archive)
	}
	if r.Answered != (Archived{}) {
		w.any("answered", r.Answered)
	}
	w.some("etag", r.ETag)
	w.some("modified", r.Modified)
	w.some("visit", string(r.Visit))
	w.time("visited_at", r.VisitedAt)
	w.time("judged_at", r.JudgedAt)
	w.time("first", r.First)
	w.time("since", r.Since)
	w.number("missed", int64(r.Missed))
	w.some("added", r.Added)
	w.some("removed", r.Removed)
	if len(r.Restless) > 0 {
		w.any("restless", r.Restless)
	}
	if len(r.Earlier) > 0 {
		w.any("earlier", r.Earlier)
	}
	if w.err != nil {
		return b, w.err
	}
	return append(w.b, '}'), nil
}

// A jsonWriter writes the members of an object. Except for hash and text, it leaves out empty
// values.
type jsonWriter struct {
	b   []byte
	err error // the first
}

func (w *jsonWriter) name(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '"')
	w.b = append(w.b, name...)
	w.b = append(w.b, '"', ':')
}

func (w *jsonWriter) hash(name string, h dedup.Hash) {
	w.name(name)
	w.b = append(w.b, '"')
	w.b = hex.AppendEncode(w.b, h[:])
	w.b = append(w.b, '"')
}

func (w *jsonWriter) someHash(name string, h dedup.Hash) {
	if !h.IsZero() {
		w.hash(name, h)
	}
}

func (w *jsonWriter) text(name, s string) {
	w.name(name)
	w.b = appendString(w.b, s)
}

func (w *jsonWriter) some(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *jsonWriter) list(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.name(name)
	for i, s := range list {
		w.b = append(w.b, "[,"[min(i, 1)])
		w.b = appendString(w.b, s)
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) number(name string, n int64) {
	if n != 0 {
		w.name(name)
		w.b = strconv.AppendInt(w.b, n, 10)
	}
}

func (w *jsonWriter) flag(name string, set bool) {
	if set {
		w.name(name)
		w.b = append(w.b, "true"...)
	}
}

// share writes a number from 0 to 1 in its shortest form. encoding/json writes other and very small
// numbers in another form.
func (w *jsonWriter) share(name string, f float64) {
	switch {
	case f == 0:
	case f >= 1e-6 && f <= 1:
		w.name(name)
		w.b = strconv.AppendFloat(w.b, f, 'f', -1, 64)
	default:
		w.any(name, f)
	}
}

func (w *jsonWriter) time(name string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.name(name)
	text := append(w.b, '"')
	text, err := t.AppendText(text)
	if err != nil {
		w.fail(err)
		return
	}
	w.b = append(text, '"')
}

// any writes a value with encoding/json.
func (w *jsonWriter) any(name string, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		w.fail(err)
		return
	}
	w.name(name)
	w.b = append(w.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func (w *jsonWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// appendString appends a JSON string. It escapes the characters that RFC 8259 requires, invalid
// UTF-8, and the two line ends of Unicode that JavaScript does not allow in a string.
func appendString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size, escape := 1, ""
		if c >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				escape = `\ufffd`
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			default:
				i += size
				continue
			}
		}
		b = append(b, s[done:i]...)
		i += size
		done = i
		switch {
		case escape != "":
			b = append(b, escape...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}
