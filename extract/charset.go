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

// The encoding of a page is found in the order of the WHATWG HTML standard, "determining the
// character encoding": byte order mark, Content-Type header, <meta>, then the bytes. It departs
// from it in three places, because a browser's user can pick another encoding and a crawler's
// cannot:
//
//   - A text that is UTF-8 many times over is UTF-8, whatever is declared.
//   - A declared UTF-8 that the bytes contradict again and again is a wrong template, and is not
//     believed. A few broken characters, a text cut in the middle of one, stay UTF-8.
//   - Without any declaration a guess by letter frequencies comes before windows-1252. It is made
//     on the text alone, for tags are English whatever the page is, and a guess whose result looks
//     like no text is dropped.
//
// What it gets wrong: short undeclared pages in single-byte encodings, where a few letters do not
// tell Cyrillic from Greek.

const (
	// prescanned is how many bytes are searched for <meta charset>. The standard's 1,024 miss pages
	// with long comments or scripts on top.
	prescanned = 16 << 10
	guessed    = 32 << 10 // bytes of text shown to the guesser: more do not change its mind
)

// decode gives the page as UTF-8 and the name of the encoding it was in. Valid UTF-8 is handed back
// as it is, uncopied.
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

// canonicalName is the WHATWG name of a label, "" if the label is none of the web's.
// "x-user-defined" and "replacement" decode to no text and are as good as no label.
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
		declared = "utf-8" // it was read as ASCII so far, so UTF-16 it is not
	}
	if (declared == "utf-8" || declared == "") && utf8.Valid(body) {
		return "utf-8" // nearly every page; the rest have their characters counted
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

// utf16Name recognises UTF-16 by its mark, by the header where the bytes bear it out, or, with
// neither, by a "<" and its NUL at the very start.
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
	// "utf-16" alone means little-endian on the web, but white space and tags are ASCII and show
	// the order.
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

// declaredInside is the encoding that <meta charset>, <meta http-equiv> or the XML declaration
// names.
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

// evidence is what the bytes say about UTF-8: characters of several bytes, and bytes that belong to
// none. A character cut off at the end counts as neither.
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

// proves: no text in another encoding is valid UTF-8 so many times over by chance.
func (e evidence) proves() bool { return e.broken == 0 && e.whole >= 8 }

// likely: UTF-8, damaged at most.
func (e evidence) likely() bool { return e.broken*10 <= e.whole }

// refutes: a declaration of UTF-8 that is wrong.
func (e evidence) refutes() bool { return e.broken > e.whole }

// guess asks the frequency tables, and takes the first answer that reads as text.
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
	// The guesser asks its tables in parallel and leaves answers of equal confidence in the order
	// they came.
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

// guessedName translates the guesser's answer into the web's name. What no web page is written in,
// and what is told by escape sequences or NULs that are not there, is none.
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

// hasC1 reports bytes that are controls in the ISO encodings and letters in the Windows ones.
func hasC1(sample []byte) bool {
	for _, c := range sample {
		if 0x80 <= c && c < 0xa0 {
			return true
		}
	}
	return false
}

// readsAsText reports a decoded sample that holds letters beyond ASCII, and next to nothing that no
// text holds: unassigned characters, controls, and signs inside words, as in "g³adkiej".
func readsAsText(sample []byte) bool {
	letters, wrong := 0, 0
	before, sign := false, false // the last character was a letter; a sign after a letter
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

// untagged is the text between tags, scripts and styles left out, for the guesser. It works on
// bytes of unknown encoding, where only ASCII can be relied on.
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
