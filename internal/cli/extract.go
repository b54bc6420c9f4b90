package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/extract/selector"
	"skink/internal/corpus"
)

var extractCommand = command{
	name:  "extract",
	args:  "[flags] PAGE...",
	short: "print the main text of pages",
	setup: setupExtract,
}

type extracted struct {
	Path string `json:"path"`
	*extract.Document
	Words    int    `json:"words"` // number of words in the canonical text
	Markdown string `json:"markdown,omitempty"`
}

type extractFlags struct {
	json, markdown bool
	rules          selector.Rules
	fetch          crawler.Options // options for fetching a page
}

func setupExtract(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &extractFlags{fetch: crawler.Defaults()}
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each page: {\"path\",\"title\",\"lang\",\"text\",\"words\",...}")
	flags.BoolVar(&f.markdown, "markdown", false, "print the main text as Markdown; with --json, add it to each object")
	flags.Func("main", "`SELECTOR` print the text of the elements that this CSS selector selects", func(text string) error { return f.rules.Add("main", text) })
	flags.Func("drop", "`SELECTOR` leave out the elements that this CSS selector selects (repeatable)", func(text string) error { return f.rules.Add("drop", text) })
	flags.Func("field", "`NAME=SELECTOR` with --json: add a field with the text of the first element that the selector selects (repeatable)", func(text string) error {
		name, css, _ := strings.Cut(text, "=")
		return f.rules.Add("fields."+name, css)
	})
	addPrivateFlag(flags, &f.fetch)
	return f.run
}

func (f *extractFlags) run(ctx context.Context, con Console, args []string) (err error) {
	if err := checkURLs(args); err != nil {
		return err
	}
	documents := document.NewReader(document.Options{})
	defer func() { err = keepFirst(err, documents.Close()) }()
	out := bufio.NewWriter(con.Out)
	failed := 0
	for page, err := range f.pages(ctx, con, documents, args) {
		name, doc := page.URL, page.Doc
		if ctx.Err() != nil {
			return keepFirst(out.Flush(), ctx.Err())
		}
		if err == nil && doc.Text == "" && !f.json {
			err = fmt.Errorf("%s has no text", harmless.Line(name))
		}
		if err != nil {
			fmt.Fprintf(con.Err, "skink: %s\n", harmless.Error(err))
			failed++
			continue
		}
		con.lacks(name, document.Incomplete(doc))
		for _, s := range doc.Missed {
			con.lacks(name, "this selector found nothing: "+s)
		}
		if err := f.print(out, name, doc); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return exitError(exitFailed)
	}
	return nil
}

// pages yields the page of each input, or all pages with text of a web archive.
func (f *extractFlags) pages(ctx context.Context, con Console, documents *document.Reader, args []string) iter.Seq2[corpus.Text, error] {
	opt := extract.Options{Markdown: f.markdown, Select: f.rules}
	return func(yield func(corpus.Text, error) bool) {
		for _, name := range args {
			if archive, _ := await(ctx, func() (bool, error) { return isArchive(&con, name), nil }); !archive {
				doc, err := readPage(ctx, con, documents, opt, f.fetch, name)
				if !yield(corpus.Text{URL: name, Doc: doc}, err) {
					return
				}
				continue
			}
			in := &corpus.Inputs{Paths: []string{name}, Stdin: con.In, Documents: documents}
			in.Odd = func(err error) { fmt.Fprintf(con.Err, "skink: %s\n", harmless.Error(err)) }
			for r, err := range in.Records(ctx) {
				page := corpus.Text{}
				if err == nil {
					page, err = r.Text(ctx, opt)
				}
				_, passed := errors.AsType[*corpus.PassedError](err)
				if nothing := err == nil && (page.Doc == nil || page.Doc.Text == "" && !f.json); !passed && !nothing && !yield(page, err) {
					return
				}
			}
		}
	}
}

// isArchive reports whether an input is a web archive. If it examines standard input, it replaces con.In, from which all of
// the input can still be read.
func isArchive(con *Console, name string) bool {
	if name == "-" {
		in := bufio.NewReaderSize(con.In, 64<<10)
		con.In = in
		start, _ := in.Peek(in.Size())
		return corpus.IsWARC(bytes.NewReader(start))
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false // other inputs can be read only once
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return corpus.IsWARC(f)
}

func (f *extractFlags) print(w io.Writer, name string, doc *extract.Document) error {
	var words dedup.Text // counts words in the same way as reports and the view
	words.Read([]byte(doc.Text))
	markdown := ""
	if f.markdown {
		markdown = doc.Markdown(extract.MarkdownOptions{})
	}
	switch {
	case f.json:
	case f.markdown:
		_, err := fmt.Fprintln(w, harmless.Lines(markdown))
		return err
	default:
		_, err := fmt.Fprintln(w, harmless.Lines(doc.Text))
		return err
	}
	return writeLine(w, extracted{name, doc, words.Len(), markdown})
}

// lacks prints what a document lacks, if anything.
func (con Console) lacks(name, note string) {
	if note != "" {
		fmt.Fprintf(con.Err, "skink: %s: %s\n", harmless.Line(name), note)
	}
}
