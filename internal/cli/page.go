package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"skink/crawler"
	"skink/crawler/wire"
	"skink/document"
	"skink/extract"
	"skink/frontier"
	"skink/internal/bucket"
	"skink/internal/corpus"
	"skink/internal/session"
	"skink/warc"
)

// readPage extracts the page named on the command line: a file, a URL to fetch, or "-" for standard
// input.
func readPage(ctx context.Context, con Console, documents *document.Reader, options extract.Options, fetch crawler.Options, name string) (*extract.Document, error) {
	var body []byte
	var kind string
	var err error
	if frontier.HasScheme(name) {
		body, kind, err = fetchPage(ctx, fetch, name)
	} else {
		kind = corpus.TypeOf(name)
		body, err = await(ctx, func() ([]byte, error) { return readInput(con, name) })
		if err == nil && corpus.IsARC(body) {
			err = fmt.Errorf("%s: %w", name, warc.ErrARC)
		}
		if err == nil && corpus.IsWARC(bytes.NewReader(body)) {
			err = fmt.Errorf("%s is a web archive: read its pages with skink crawl --from, and write their texts with skink export", name)
		}
		if _, missing := os.Stat(name); errors.Is(missing, fs.ErrNotExist) && withScheme(name) != "" {
			err = fmt.Errorf("file %q does not exist: check its name, or try %s", name, withScheme(name))
		}
	}
	if err != nil {
		return nil, err
	}
	return pageOf(ctx, documents, options, name, body, kind)
}

// checkURLs returns an error if any of names is a URL that a crawl would refuse as a seed. Call it
// before anything is read.
func checkURLs(names []string) error {
	for _, name := range names {
		if frontier.HasScheme(name) {
			if err := addSeed(new(session.Seeds), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageOf extracts a page from body, the bytes of a file or of an HTTP response. kind is the media
// type, or "" if unknown. name is for errors.
func pageOf(ctx context.Context, documents *document.Reader, options extract.Options, name string, body []byte, kind string) (*extract.Document, error) {
	doc, err := documents.Parse(ctx, options, body, kind)
	var unreadable *document.Error
	if errors.As(err, &unreadable) {
		return nil, fmt.Errorf("%s: %w", name, unreadable)
	}
	if errors.Is(err, extract.ErrNotText) {
		return nil, fmt.Errorf("%s has no text, because its type is %s", name, extract.MediaType(body, kind))
	}
	return doc, err
}

func fetchPage(ctx context.Context, opt crawler.Options, name string) (body []byte, kind string, err error) {
	var all session.Seeds
	if err := addSeed(&all, name); err != nil {
		return nil, "", err
	}
	opt.SeedHosts = wire.HostsOf(all.URLs...)
	page, err := crawler.Get(ctx, all.URLs[0], opt)
	if err != nil {
		return nil, "", err
	}
	if page.Problem != "" {
		return nil, "", fmt.Errorf("%s: %s: %s%s", name, page.Problem, page.Detail, session.AdviceOn(string(page.Problem), page.Detail))
	}
	return page.Body, page.Header.Get("Content-Type"), nil
}

// readInput reads the named file, or standard input, unless an output would replace the file.
func readInput(con Console, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(con.In)
	}
	if err := con.files.Input(name); err != nil {
		return nil, usageError{Err: err}
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return nil, plainError(name, err)
	}
	return body, nil
}

// plainError rewrites err, the error from reading the named file, for users: it does not mention
// system calls such as open or stat.
func plainError(name string, err error) error {
	switch {
	case bucket.IsAddress(name):
		return fmt.Errorf("%q is in a bucket, from which only skink dedup reads: copy it to disk", name)
	case errors.Is(err, fs.ErrNotExist) && frontier.HasScheme(name):
		return fmt.Errorf("%q is a URL, but this command reads files: use skink crawl, compare or extract", name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file %q does not exist: check its name and the current folder", name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%q is a folder: specify the files in it", name)
	}
	return err
}

// await calls read and returns its result, or the error of ctx if ctx ends first. Reading from a
// terminal or opening a named pipe may block forever and cannot be cancelled. The goroutine calling
// read then lives until the process ends, soon after the command returns.
func await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var nothing T
		return nothing, ctx.Err()
	}
}
