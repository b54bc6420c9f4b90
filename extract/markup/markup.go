// Package markup checks the HTML of a page for faults that readers, browsers or search engines
// notice: images without alternative text, links to fragments that do not exist, broken
// structured data. It reads only the parsed document, and makes no requests.
//
//	facts := markup.Read(root, markup.Options{})
//	for _, c := range markup.Checks {
//		if facts.Faults.Has(c.Fault) { fmt.Println(c.Name, facts.Examples(c.Fault)) }
//	}
//
// [Checks] lists all faults. A fault says only what is true of every page with that HTML, whatever
// its site. It does not mean that the site works badly.
package markup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"skink/base/node"
)

// A Fault is a kind of fault on a page. The numbers of the faults are stored and must not change.
type Fault uint8

// These are faults of the HTML; see [Checks].
const (
	ImageAlt            Fault = 0
	ImageSize           Fault = 1
	NoViewport          Fault = 2
	NoLang              Fault = 3
	NoDoctype           Fault = 4
	SeveralTitles       Fault = 5
	SeveralDescriptions Fault = 6
	HeadingSkipped      Fault = 7
	CanonicalInBody     Fault = 8
	CanonicalRelative   Fault = 9
	LinkEmpty           Fault = 10
	LinkVague           Fault = 11
	LinkFragment        Fault = 12
	LinkLocal           Fault = 13
	LinkSession         Fault = 14
	DataInvalid         Fault = 15
	DataIncomplete      Fault = 16
	SharingIncomplete   Fault = 17
	SharingRelative     Fault = 18
	SharingCard         Fault = 19
	InsecureFile        Fault = 20
	InsecureForm        Fault = 21
	Password            Fault = 22
	FieldLabel          Fault = 23
	CanonicalScheme     Fault = 24
	Reload              Fault = 25
	FrameTitle          Fault = 26
	ButtonEmpty         Fault = 27
	IDRepeated          Fault = 28
	ImageAltLong        Fault = 29
	LinkScheme          Fault = 30
	OtherLanguage       Fault = 31 // set by the caller, which knows the language of the text
	SentAsText          Fault = 39 // set by the caller, which knows the header
)

// These are faults of the response header. Package markup does not set them, because it does not
// see the header.
const (
	NoHSTS Fault = 32 + iota
	NoCSP
	NoSniff
	NoReferrerPolicy
	NoFraming
	Uncompressed
	Uncacheable
)

// OfHeader reports whether f is a fault of the response header rather than of the HTML.
func (f Fault) OfHeader() bool { return f >= NoHSTS && f <= Uncacheable }

// A Set is a set of faults.
type Set uint64

// Has reports whether the set contains a fault.
func (s Set) Has(f Fault) bool { return s&(1<<f) != 0 }

// Add adds a fault to the set.
func (s *Set) Add(f Fault) { *s |= 1 << f }

// Remove removes faults from the set.
func (s *Set) Remove(all ...Fault) {
	for _, f := range all {
		*s &^= 1 << f
	}
}

// These constants limit the examples that are stored with a page.
const (
	maxExamples = 2  // maximum number of examples of one kind of fault
	maxExample  = 70 // maximum size of an example in bytes
)

// Facts contains the faults of one page.
type Facts struct {
	Faults Set

	// Shown contains examples of faults. Each consists of the fault's number, a space, and text such
	// as the src attribute of an image.
	Shown []string

	Anchors []uint16 // hashes of the fragments that links to the page can have, as returned by [Anchor]; sorted, without duplicates; nil unless Options.Anchors is set

	// These describe the <meta> elements that replace response headers.
	Policy   string // value for Content-Security-Policy; "" if no element replaces this header
	Referrer bool   // whether an element replaces Referrer-Policy
}

// Examples returns the examples of one kind of fault in f.
func (f *Facts) Examples(fault Fault) []string { return Examples(f.Shown, fault) }

// Examples returns the examples of one kind of fault in the Shown field of a [Facts].
func Examples(shown []string, fault Fault) (all []string) {
	prefix := strconv.Itoa(int(fault)) + " "
	for _, s := range shown {
		if example, ok := strings.CutPrefix(s, prefix); ok {
			all = append(all, example)
		}
	}
	return all
}

// Drop removes faults and their examples from f.
func (f *Facts) Drop(all ...Fault) {
	f.Faults.Remove(all...)
	f.Shown = slices.DeleteFunc(f.Shown, func(s string) bool {
		number, _, _ := strings.Cut(s, " ")
		n, _ := strconv.Atoi(number)
		return slices.Contains(all, Fault(n))
	})
}

// found records a fault. The example may be "".
func (r *reader) found(f Fault, example string) {
	r.facts.Faults.Add(f)
	if r.shown[f] == maxExamples {
		return
	}
	if example = oneLine(example, maxExample); example == "" {
		return
	}
	s := strconv.Itoa(int(f)) + " " + example
	if !slices.Contains(r.facts.Shown, s) {
		r.shown[f]++
		r.facts.Shown = append(r.facts.Shown, s)
	}
}

// oneLine returns s as one line with single spaces, cut to at most limit bytes.
func oneLine(s string, limit int) string {
	if s = strings.Trim(s, " \t\r\n\f"); len(s) <= limit && node.IsLine(s) {
		return s // fast path for most text, without a copy
	}
	if len(s) > 4*limit { // a data: URL may be megabytes long
		s = s[:4*limit]
	}
	if s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " "); len(s) <= limit {
		return s
	}
	const dots = "…"
	return strings.ToValidUTF8(s[:limit-len(dots)], "") + dots
}

// Options select what [Read] collects. The zero value collects only the faults.
type Options struct {
	Anchors bool // fill Facts.Anchors
}

// Read returns the faults of a document. root must be a document node.
func Read(root *html.Node, o Options) Facts {
	r := readers.Get().(*reader)
	r.anchors = o.Anchors
	r.walk(root)
	r.conclude()
	facts := r.facts
	r.release()
	return facts
}
