package extract

import (
	"bytes"
	"cmp"
	"mime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// # Detecting the encoding
//
// The encoding of a page is determined in the order given by the WHATWG HTML standard, "determining
// the character encoding": byte order mark, Content-Type header, <meta>, then the bytes. Detection
// departs from the standard in three cases, because the user of a crawler cannot choose another
// encoding for a page:
//
//   - A body with at least eight valid multi-byte sequences of UTF-8 and no invalid byte is UTF-8,
//     whatever it declares.
//   - A declaration of UTF-8 is ignored if the body has more invalid bytes than valid UTF-8
//     sequences. A few broken characters, or a character cut off at the end, do not matter.
//   - If nothing is declared, letter frequencies are tried before windows-1252, the standard's
//     default. Tags are not counted, because their names are English on every page. A guess is
//     ignored if the decoded text has many characters that do not normally occur in text.
//
// Weakness: if a short page in a single-byte encoding does not declare it, it may have too few
// letters to tell Cyrillic from Greek.

const (
	// prescanned is the number of bytes searched for <meta charset>. The standard says 1,024, which is
	// too few for pages that begin with long comments or scripts.
	prescanned = 16 << 10
	guessed    = 32 << 10 // number of bytes of text from which chardet guesses; more would not change the result
)

// decode returns the page as UTF-8, and the WHATWG name of the original encoding. Valid UTF-8 is
// not copied.
func decode(body []byte, contentType string, markup bool) (text []byte, name string) {
	name = encodingOf(body, contentType, markup)
	if name == "utf-8" {
		body = bytes.TrimPrefix(body, []byte("\ufeff"))
		if utf8.Valid(body) {
			return body, name
		}
	}
	return decodeAs(body, name), name
}

// Charset returns the WHATWG name of the encoding that [Parse] would use to decode an HTML page.
func Charset(body []byte, contentType string) string { return encodingOf(body, contentType, true) }

func decodeAs(body []byte, name string) []byte {
	e := lookup(name)
	if e == nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}

func lookup(name string) encoding.Encoding {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil
	}
	return e
}

// canonicalName returns the WHATWG name of an encoding label: "windows-1252" for "latin1". It
// returns "" for an unknown label, and for "x-user-defined" and "replacement", which cannot be used
// to decode text.
func canonicalName(label string) string {
	e := lookup(strings.TrimSpace(label))
	if e == nil {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" || name == "x-user-defined" {
		return ""
	}
	return name
}

func encodingOf(body []byte, contentType string, markup bool) string {
	if name, ok := utf16Name(body, contentType); ok {
		return name
	}
	if bytes.HasPrefix(body, []byte("\ufeff")) {
		return "utf-8"
	}
	declared := headerCharset(contentType)
	if markup && (declared == "" || isUTF16(declared)) {
		declared = declaredInside(body)
	}
	if isUTF16(declared) {
		declared = "utf-8" // the declaration was readable as ASCII, so the body is not UTF-16
	}
	if (declared == "utf-8" || declared == "") && utf8.Valid(body) {
		return "utf-8" // fast path for nearly every page
	}
	seen := utf8Evidence(body)
	switch {
	case declared == "utf-8" && !seen.refutes(), declared == "" && seen.likely(), seen.proves():
		return "utf-8"
	case declared != "" && declared != "utf-8":
		return declared
	}
	return guess(body, markup)
}

func isUTF16(name string) bool { return name == "utf-16le" || name == "utf-16be" }

func headerCharset(contentType string) string {
	if usualTypes[contentType] != "" {
		return "utf-8"
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return canonicalName(params["charset"])
	}
	_, after, ok := strings.Cut(strings.ToLower(contentType), "charset=")
	if !ok {
		return ""
	}
	label, _, _ := strings.Cut(after, ";")
	return canonicalName(strings.Trim(label, "\"' \t"))
}

// utf16Name reports whether the body is UTF-16, and in which byte order. It looks for a byte order
// mark, then for a "<" next to a NUL byte at the start. Otherwise the header must declare UTF-16,
// and the body must have NUL bytes or be invalid UTF-8.
func utf16Name(body []byte, contentType string) (string, bool) {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return "utf-16le", true
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return "utf-16be", true
	case bytes.HasPrefix(body, []byte("<\x00")) && len(body) > 4 && body[3] == 0:
		return "utf-16le", true
	case bytes.HasPrefix(body, []byte("\x00<")) && len(body) > 4 && body[2] == 0:
		return "utf-16be", true
	}
	declared := headerCharset(contentType)
	if !isUTF16(declared) {
		return "", false
	}
	// The label "utf-16" means little-endian on the web. Tags and spaces are ASCII, so the positions
	// of their NUL bytes show the actual order.
	even, odd := 0, 0
	for i, c := range body[:min(len(body), sniffed)] {
		if c == 0 {
			if i%2 == 0 {
				even++
			} else {
				odd++
			}
		}
	}
	switch {
	case even > odd:
		return "utf-16be", true
	case odd > even:
		return "utf-16le", true
	case utf8.Valid(body):
		return "", false
	}
	return declared, true
}

// declaredInside returns the encoding that the body declares in <meta charset>, <meta http-equiv>
// or the XML declaration, or "" if there is none.
func declaredInside(body []byte) string {
	head := body[:min(len(body), prescanned)]
	if trimmed := bytes.TrimLeft(head, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("<?xml")) {
		decl, _, _ := bytes.Cut(trimmed, []byte("?>"))
		if _, after, ok := bytes.Cut(decl, []byte("encoding")); ok {
			after = bytes.TrimLeft(after, " \t\r\n=")
			if len(after) > 0 && (after[0] == '"' || after[0] == '\'') {
				label, _, _ := bytes.Cut(after[1:], after[:1])
				if name := canonicalName(string(label)); name != "" {
					return name
				}
			}
		}
	}
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			switch string(tag) {
			case "body":
				return ""
			case "meta":
				if name := metaCharset(z, more); name != "" {
					return name
				}
			}
		}
	}
}

func metaCharset(z *html.Tokenizer, more bool) string {
	var charset, content string
	pragma := false
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "charset":
			charset = string(value)
		case "content":
			content = string(value)
		case "http-equiv":
			pragma = bytes.EqualFold(value, []byte("content-type"))
		}
	}
	if charset == "" && pragma {
		_, after, ok := strings.Cut(strings.ToLower(content), "charset")
		if ok {
			after = strings.TrimLeft(after, " \t\r\n=")
			charset = strings.Trim(after, "\"' \t\r\n")
			charset, _, _ = strings.Cut(charset, ";")
			charset, _, _ = strings.Cut(charset, " ")
		}
	}
	return canonicalName(charset)
}

// evidence counts the valid UTF-8 sequences of two or more bytes in a body (whole), and the bytes
// outside any valid sequence (broken). A character that is cut off at the end of the body is not
// counted.
type evidence struct{ whole, broken int }

func utf8Evidence(body []byte) (e evidence) {
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			e.whole++
		case utf8.FullRune(body[i:]) || e.whole == 0:
			e.broken++
		}
		i += size
	}
	return e
}

// proves reports whether the body is certainly UTF-8. Text in another encoding is very unlikely to
// have eight valid sequences and no broken byte.
func (e evidence) proves() bool { return e.broken == 0 && e.whole >= 8 }

func (e evidence) likely() bool { return e.broken*10 <= e.whole }

func (e evidence) refutes() bool { return e.broken > e.whole }

// guess returns the encoding that is most probable by letter frequencies, among those in which the
// text passes readsAsText. If there is none, guess returns windows-1252.
func guess(body []byte, markup bool) string {
	sample := body
	if markup {
		sample = untagged(body)
	}
	sample = sample[:min(len(sample), guessed)]
	results, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return "windows-1252"
	}
	// chardet tries its encodings in parallel, so results of equal confidence arrive in random order.
	// Sorting them makes the result reproducible.
	slices.SortFunc(results, func(a, b chardet.Result) int {
		return cmp.Or(b.Confidence-a.Confidence, strings.Compare(a.Charset, b.Charset))
	})
	for _, r := range results {
		if r.Confidence < 10 {
			break
		}
		name := guessedName(r, sample)
		if name != "" && readsAsText(decodeAs(sample, name)) {
			return name
		}
	}
	return "windows-1252"
}

// guessedName returns the WHATWG name of an encoding that chardet guessed. It returns "" for UTF-8,
// UTF-16 and UTF-32, which earlier checks have ruled out, and for encodings that are not used on
// the web.
func guessedName(r chardet.Result, sample []byte) string {
	switch r.Charset {
	case "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-32BE", "UTF-32LE":
		return ""
	case "ISO-8859-8-I":
		return "windows-1255"
	case "GB-18030", "GB18030":
		return "gb18030"
	case "ISO-8859-1", "windows-1252", "ISO-8859-2", "windows-1250":
		return latin(sample)
	}
	return canonicalName(r.Charset)
}

// hasC1 reports whether a sample has bytes from 0x80 to 0x9f, which are control characters in the
// ISO encodings, but letters and punctuation in the Windows encodings.
func hasC1(sample []byte) bool {
	return slices.ContainsFunc(sample, func(c byte) bool { return 0x80 <= c && c < 0xa0 })
}

// readsAsText reports whether a decoded sample looks like text. It must have non-ASCII letters, and
// at most one wrong character for every 20 of them. Wrong characters are unassigned characters,
// controls, and symbols inside words, as in "g³adkiej" for "gładkiej".
func readsAsText(sample []byte) bool {
	letters, wrong := 0, 0
	before, sign := false, false // before: the last character was a letter; sign: it was a symbol after a letter
	for _, r := range string(sample) {
		letter := unicode.IsLetter(r)
		switch {
		case letter && r >= utf8.RuneSelf:
			letters++
		case r == utf8.RuneError || r >= 0x80 && unicode.IsControl(r) || unicode.Is(unicode.Co, r):
			wrong++
		}
		if letter && sign {
			wrong++
		}
		sign = before && r >= utf8.RuneSelf && unicode.In(r, unicode.S, unicode.No)
		before = letter
	}
	return letters > 0 && wrong*20 <= letters
}

// untagged returns the text of a page without tags, scripts and styles, cut to about guessed bytes.
// The encoding is not known yet, so only ASCII bytes are interpreted.
func untagged(body []byte) []byte {
	var text []byte
	z := html.NewTokenizer(bytes.NewReader(body))
	skip := false
	for len(text) < guessed {
		switch z.Next() {
		case html.ErrorToken:
			return text
		case html.StartTagToken:
			tag, _ := z.TagName()
			skip = string(tag) == "script" || string(tag) == "style"
		case html.EndTagToken:
			skip = false
		case html.TextToken:
			if !skip {
				text = append(append(text, bytes.TrimSpace(z.Raw())...), ' ')
			}
		}
	}
	return text
}
