// Package pdf reads the text of PDF files with PDFium, which runs as WebAssembly inside the process.
//
// # Safety
//
// PDF files are hostile input, and PDFium is a large program in C++. Its sandbox has no files, no
// network, and a bounded memory. Each file gets an instance of its own, which takes some
// milliseconds to make and is thrown away with its memory afterwards. So the text of a file does
// not depend on the files before it, and a file that breaks its instance costs only itself.
//
// A file that takes too long is stopped: the compiled code checks at each loop whether its context
// has ended. These checks make PDFium three times slower, but without them a call could not be
// interrupted. A page takes 7 ms of processor time, and with pdftotext 1.5 ms.
//
// # Start
//
// To compile PDFium takes seconds and some 300 MB of memory. The result is kept in a cache on disk,
// from which it is loaded in a tenth of a second. A cache that cannot be used is ignored.
package pdf

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Options bound an engine.
type Options struct {
	Instances int           // files that are read at once, 1 or more
	Memory    int64         // bytes that an instance may use
	Timeout   time.Duration // time for one file
	Cache     string        // folder for the compiled program; "": it is compiled at each start
}

// A File holds what was read from a file, as the file has it.
type File struct {
	Title, Author, Subject string
	Created, Modified      string // as in D:20260131120000+01'00'
	Lang                   string
	Pages                  []string // text of each page, with its lines; a page that is damaged has none
}

// Reasons why a file cannot be read.
var (
	ErrEncrypted = errors.New("it is encrypted, and needs a password")
	ErrDamaged   = errors.New("it is damaged")
	ErrTooSlow   = errors.New("it takes too long to read")
	ErrTooLarge  = errors.New("its text is too large")
)

// An Engine reads files. Its methods are safe for concurrent use. Close it.
type Engine struct {
	opt   Options
	pool  pdfium.Pool
	cache wazero.CompilationCache // nil: none
}

// New starts an engine.
func New(opt Options) (*Engine, error) {
	e := &Engine{opt: opt}
	if opt.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(opt.Cache)
		if err == nil {
			if e.pool, err = start(opt, cache); err == nil {
				e.cache = cache
				return e, nil
			}
			cache.Close(context.Background())
		}
	}
	var err error
	if e.pool, err = start(opt, nil); err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	return e, nil
}

// memoryPage is the size of a page of WebAssembly memory in bytes.
const memoryPage = 64 << 10

func start(opt Options, cache wazero.CompilationCache) (pdfium.Pool, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(uint32(min(opt.Memory/memoryPage, 1<<16))).
		WithCloseOnContextDone(true)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	return webassembly.Init(webassembly.Config{
		MaxTotal:      opt.Instances,
		FSConfig:      wazero.NewFSConfig(), // no files: the default is all of them
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RandomSource:  rand.Reader,
	})
}

// Close stops the engine. No file may be read at the same time or later.
func (e *Engine) Close() error {
	err := e.pool.Close()
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(context.Background()))
	}
	return err
}

// Read reads a file with at most most bytes of text. It waits for an instance, and the time for the file begins then. The error is
// that of ctx, or wraps one of the reasons above, or is that of a broken instance.
func (e *Engine) Read(ctx context.Context, body []byte, most int) (*File, error) {
	instance, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("start an instance of PDFium: %w", err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, e.opt.Timeout, ErrTooSlow)
	defer cancel()
	kill := sync.OnceFunc(func() { _ = instance.Kill() })
	defer kill()
	stop := context.AfterFunc(limited, kill)
	defer stop()
	file, err := e.read(limited, instance, body, most)
	if limited.Err() != nil {
		return nil, context.Cause(limited)
	}
	return file, err
}

// read reads a file in an instance.
func (e *Engine) read(ctx context.Context, p pdfium.Pdfium, body []byte, most int) (*File, error) {
	opened, err := p.OpenDocument(&requests.OpenDocument{File: &body})
	switch {
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return nil, ErrEncrypted
	case errors.Is(err, pdfium_errors.ErrFormat), errors.Is(err, pdfium_errors.ErrFile),
		errors.Is(err, pdfium_errors.ErrPage), errors.Is(err, pdfium_errors.ErrUnknown), errors.Is(err, pdfium_errors.ErrUnexpected):
		return nil, ErrDamaged
	case err != nil:
		return nil, e.broken(err)
	}
	doc := opened.Document
	count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
	if err != nil {
		return nil, e.broken(err)
	}
	file := &File{}
	size, damaged := 0, 0
	for i := range count.PageCount {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text, err := pageText(p, doc, i)
		switch {
		case errors.Is(err, pdfium_errors.ErrPage):
			damaged++
		case err != nil:
			return nil, e.broken(err)
		}
		if size += len(text); size > most {
			return nil, ErrTooLarge
		}
		file.Pages = append(file.Pages, text)
	}
	if damaged > 0 && size == 0 {
		return nil, ErrDamaged
	}
	return file, file.describe(p, doc)
}

// broken returns the error for an instance that failed: the file may be damaged, or need more memory.
func (e *Engine) broken(err error) error {
	return fmt.Errorf("PDFium failed, and had %d MB of memory: %w", e.opt.Memory>>20, err)
}

// pageText returns the text of a page.
func pageText(p pdfium.Pdfium, doc references.FPDF_DOCUMENT, index int) (string, error) {
	page, err := p.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: index})
	if err != nil {
		return "", err
	}
	text, err := p.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return "", err
	}
	count, err := p.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return "", err
	}
	all := ""
	if count.Count > 0 { // one call for all characters: each call costs a switch of stacks
		got, err := p.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: count.Count})
		if err != nil {
			return "", err
		}
		all = got.Text
	}
	if _, err := p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}); err != nil {
		return "", err
	}
	_, err = p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	return all, err
}

// describe reads the metadata of a file. Most files lack some.
func (f *File) describe(p pdfium.Pdfium, doc references.FPDF_DOCUMENT) error {
	meta, err := p.GetMetaData(&requests.GetMetaData{Document: doc})
	if err != nil {
		return err
	}
	for _, tag := range meta.Tags {
		switch tag.Tag {
		case "Title":
			f.Title = tag.Value
		case "Author":
			f.Author = tag.Value
		case "Subject":
			f.Subject = tag.Value
		case "CreationDate":
			f.Created = tag.Value
		case "ModDate":
			f.Modified = tag.Value
		}
	}
	if lang, err := p.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: doc}); err == nil {
		f.Lang = lang.Language
	}
	return nil
}
