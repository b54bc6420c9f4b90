package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/crawler"
	"skink/dedup"
	"skink/document"
	"skink/extract"
	"skink/frontier"
	"skink/internal/corpus"
	"skink/store"
	"skink/warc"
)

var extractCommand = command{
	name:  "extract",
	args:  "[flags] PAGE...",
	short: "print the main text of pages",
	long: `
Prints the main text of pages and documents (PDF, DOCX, EPUB), as a crawl would extract
it. A PAGE is a file, a URL or - for standard input. For a web archive (WARC or WET,
compressed or not), the command prints the main text of every page. If an input has no text,
the command prints its name to standard error and, at the end, exits with code 1. A URL is
fetched without reading robots.txt.

--markdown prints headings, lists, tables, code, links and emphasis as Markdown, with URLs as
they appear in the page.

These commands print a page as a JSON object, and its main text as Markdown:

  skink extract --json testdata/site/index.html
  skink extract --markdown testdata/site/index.html`,
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
	fetch          crawler.Options // options for fetching a page
}

func setupExtract(flags *pflag.FlagSet) func(context.Context, Console, []string) error {
	f := &extractFlags{fetch: crawler.Defaults()}
	flags.BoolVar(&f.json, "json", false, "print one JSON object for each page: {\"path\",\"title\",\"lang\",\"text\",\"words\",...}")
	flags.BoolVar(&f.markdown, "markdown", false, "print the main text as Markdown; with --json, add it to each object")
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
	for _, name := range args {
		in, err := await(ctx, func() (io.ReadCloser, error) { return archiveOf(&con, name) })
		if err == nil && in != nil {
			lost, err := f.archived(ctx, con, documents, out, in, name)
			if failed += lost; err != nil {
				return keepFirst(out.Flush(), err)
			}
			continue
		}
		doc, err := readPage(ctx, con, documents, extract.Options{Page: f.markdown}, f.fetch, name)
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

// archiveStart is the number of bytes at the beginning of a file that are examined to find out
// whether it is a web archive.
const archiveStart = 64 << 10

// archiveOf opens the named file if it is a web archive, and returns nil otherwise. If name is "-",
// it examines the first bytes of standard input, and changes con.In so that these bytes can be read
// again.
func archiveOf(con *Console, name string) (io.ReadCloser, error) {
	if frontier.HasScheme(name) {
		return nil, nil
	}
	if name == "-" {
		in := bufio.NewReaderSize(con.In, archiveStart)
		con.In = in
		if start, _ := in.Peek(archiveStart); beginsArchive(bytes.NewReader(start)) {
			return io.NopCloser(in), nil
		}
		return nil, nil
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil // not a regular file: the caller reads it as a page, and gets any error
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, plainError(name, err)
	}
	begins := beginsArchive(f)
	if _, err := f.Seek(0, io.SeekStart); err != nil || !begins {
		f.Close()
		return nil, err
	}
	return f, nil
}

// beginsArchive reports whether a file is a web archive, compressed or not.
func beginsArchive(r io.Reader) bool {
	in, err := corpus.Unpack(r, "")
	if err != nil {
		return false
	}
	defer in.Close()
	start, _ := in.Peek(archiveStart)
	return warc.Begins(start)
}

// archived prints the main text of each page in the given web archive, and an error for each
// unreadable record. It returns the number of these errors.
func (f *extractFlags) archived(ctx context.Context, con Console, documents *document.Reader, out io.Writer, in io.ReadCloser, name string) (failed int, err error) {
	defer in.Close()
	damaged := func(err error) {
		fmt.Fprintf(con.Err, "skink: %s: %s\n", name, harmless.Error(err))
		failed++
	}
	odd := func(err error) {
		if errors.Is(err, warc.ErrLength) {
			fmt.Fprintf(con.Err, "skink: %s: %s\n", name, harmless.Error(err))
		}
	}
	files, _ := corpus.Archives(name, func(string) {}) // none for standard input
	notes := corpus.Notes{Originals: corpus.Originals(files), Damaged: damaged, Odd: odd, Passed: func(string) {}}
	err = corpus.ReadArchive(ctx, in, name, crawler.Defaults(), notes, func(p *crawler.Page, _ store.Archived, _ corpus.Order) error {
		if p.Problem != "" || p.Location != "" {
			return nil
		}
		doc, err := documents.Parse(ctx, extract.Options{Page: f.markdown}, p.Body, p.Header.Get("Content-Type"))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, new(*document.Error)):
			fmt.Fprintf(con.Err, "skink: %s: %s\n", p.Item.URL, harmless.Error(err))
			failed++
			return nil
		case err != nil:
			return nil // archives contain many files without text, such as images; skip them without an error
		}
		con.lacks(p.Item.URL, document.Incomplete(doc))
		return f.print(out, p.Item.URL, doc)
	})
	return failed, err
}

// lacks prints what a document lacks, if anything.
func (con Console) lacks(name, note string) {
	if note != "" {
		fmt.Fprintf(con.Err, "skink: %s: %s\n", harmless.Line(name), note)
	}
}
