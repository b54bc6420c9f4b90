// Package pdf reads the text of PDF files with PDFium, which runs as WebAssembly inside the
// process.
//
// # Safety
//
// PDF files are hostile input, and PDFium is a large program in C++. Its sandbox has no access to
// files or the network, and its memory is limited. Each file gets its own instance, which takes a
// few milliseconds to create and is discarded afterwards. So the text of a file does not depend on
// the files before it, and a file that breaks its instance does not affect others.
//
// Reading a file stops if it takes too long: at each loop, the compiled code checks whether its
// context has ended. These checks make PDFium three times slower, but without them a call could not
// be interrupted. A page takes 7 ms of processor time, compared with 1.5 ms for pdftotext.
//
// # Start
//
// Compiling PDFium takes seconds and some 300 MB of memory. The result is cached on disk, and
// loaded from there in a tenth of a second. A cache that cannot be used is ignored.
package pdf

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Options configure an engine.
type Options struct {
	Instances int           // number of files that can be read at the same time, at least 1
	Memory    int64         // memory limit for each instance in bytes
	Timeout   time.Duration // time limit for reading one file
	Cache     string        // folder for caching the compiled program; "" means that the program is compiled at each start
}

// A File holds the text of a PDF file, and its metadata as written in the file.
type File struct {
	Tags  map[string]string // such as Title, Author, Subject, CreationDate, ModDate; a date is like D:20260131120000+01'00'
	Lang  string
	Pages []string // text of each page, with a line break after each line; "" for a damaged page
}

// These are the reasons why a file cannot be read.
var (
	ErrEncrypted = errors.New("the file is encrypted, and needs a password")
	ErrDamaged   = errors.New("damaged")
	ErrTooSlow   = errors.New("reading the file took too long")
	ErrTooLarge  = errors.New("the text is too large")
)

// An Engine reads PDF files. Its methods are safe for concurrent use. The caller must close it.
type Engine struct {
	opt   Options
	cache wazero.CompilationCache // the compiled program, shared by all sandboxes
	free  chan *sandbox           // sandboxes that are not reading a file
}

// New returns a new engine.
func New(opt Options) (*Engine, error) {
	if opt.Cache != "" {
		if cache, err := wazero.NewCompilationCacheWithDir(opt.Cache); err == nil {
			e, err := newEngine(opt, cache)
			if err == nil {
				return e, nil
			}
			cache.Close(context.Background())
		}
	}
	return newEngine(opt, wazero.NewCompilationCache())
}

func newEngine(opt Options, cache wazero.CompilationCache) (*Engine, error) {
	e := &Engine{opt: opt, cache: cache, free: make(chan *sandbox, opt.Instances)}
	first := &sandbox{memory: memory{limit: opt.Memory}}
	if err := e.start(first); err != nil {
		return nil, err
	}
	e.free <- first
	for range opt.Instances - 1 {
		e.free <- &sandbox{memory: memory{limit: opt.Memory}}
	}
	return e, nil
}

// A sandbox reads one file after another, each in a new instance.
type sandbox struct {
	pool   pdfium.Pool // creates instances; nil if the sandbox is not started
	cancel func()
	memory memory
}

func (e *Engine) start(s *sandbox) (err error) {
	const page = 64 << 10 // size of a WebAssembly memory page in bytes
	ctx, cancel := context.WithCancel(experimental.WithMemoryAllocator(context.Background(), &s.memory))
	s.pool, err = webassembly.Init(webassembly.Config{
		Context:  ctx,
		MaxTotal: 1,
		FSConfig: wazero.NewFSConfig(), // no access to files; the default is access to all files
		RuntimeConfig: wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(uint32(min(e.opt.Memory/page, 1<<16))).
			WithCloseOnContextDone(true).
			WithCompilationCache(e.cache),
		Stdout:       io.Discard,
		Stderr:       io.Discard,
		RandomSource: rand.Reader,
	})
	if err != nil {
		cancel()
		return fmt.Errorf("start PDFium: %w", err)
	}
	s.cancel = cancel
	return nil
}

// stop must not be called while the sandbox is reading a file.
func (s *sandbox) stop() (err error) {
	if s.pool != nil {
		s.cancel()
		err = s.pool.Close()
	}
	s.pool = nil
	return err
}

// Close waits until no file is being read, and then stops the engine. Read must not be called after
// Close.
func (e *Engine) Close() error {
	var all []error
	for range e.opt.Instances {
		s := <-e.free
		all = append(all, s.stop())
	}
	return errors.Join(append(all, e.cache.Close(context.Background()))...)
}

// Read reads a file. It fails if the text is longer than limit bytes. It first waits for a free
// sandbox; the wait does not count toward Options.Timeout. The error is that of ctx, or wraps one
// of the reasons above.
func (e *Engine) Read(ctx context.Context, body []byte, limit int) (*File, error) {
	var s *sandbox
	select {
	case s = <-e.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { e.free <- s }()
	if s.pool == nil {
		if err := e.start(s); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, e.opt.Timeout, ErrTooSlow)
	defer cancel()
	stop := context.AfterFunc(limited, s.cancel)
	file, err := e.readIn(limited, s, body, limit)
	if !stop() {
		return nil, errors.Join(context.Cause(limited), s.stop()) // Read starts the sandbox again for the next file
	}
	return file, err
}

func (e *Engine) readIn(ctx context.Context, s *sandbox, body []byte, limit int) (*File, error) {
	defer s.memory.reset()
	instance, err := s.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, e.broken()
	}
	defer instance.Kill() // Close would call PDFium, which may be broken
	return e.read(ctx, instance, body, limit)
}

func (e *Engine) read(ctx context.Context, p pdfium.Pdfium, body []byte, limit int) (*File, error) {
	opened, err := p.OpenDocument(&requests.OpenDocument{File: &body})
	switch {
	case errors.Is(err, pdfium_errors.ErrPassword), errors.Is(err, pdfium_errors.ErrSecurity):
		return nil, ErrEncrypted
	case errors.Is(err, pdfium_errors.ErrFormat), errors.Is(err, pdfium_errors.ErrFile),
		errors.Is(err, pdfium_errors.ErrPage), errors.Is(err, pdfium_errors.ErrUnknown), errors.Is(err, pdfium_errors.ErrUnexpected):
		return nil, ErrDamaged
	case err != nil:
		return nil, e.broken()
	}
	doc := opened.Document
	count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc})
	if err != nil {
		return nil, e.broken()
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
			return nil, e.broken()
		}
		if size += len(text); size > limit {
			return nil, ErrTooLarge
		}
		file.Pages = append(file.Pages, text)
	}
	if damaged > 0 && size == 0 {
		return nil, ErrDamaged
	}
	file.describe(p, doc)
	return file, nil
}

// PDFium stops without an explanation when it runs out of memory, so the error mentions both
// possible reasons.
func (e *Engine) broken() error {
	return fmt.Errorf("%w, or needs more than %d MB of memory", ErrDamaged, e.opt.Memory>>20)
}

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
	if count.Count > 0 { // one call for all characters, because each call has to switch stacks
		got, err := p.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: count.Count})
		if err != nil {
			return "", err
		}
		all = got.Text
		if strings.ContainsFunc(all, isRTL) {
			if all, err = rightToLeft(p, text.TextPage, count.Count); err != nil {
				return "", err
			}
		}
	}
	if _, err := p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}); err != nil {
		return "", err
	}
	_, err = p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page})
	return all, err
}

// Any part of the metadata may be missing.
func (f *File) describe(p pdfium.Pdfium, doc references.FPDF_DOCUMENT) {
	meta, err := p.GetMetaData(&requests.GetMetaData{Document: doc})
	if err != nil {
		meta = &responses.GetMetaData{}
	}
	f.Tags = map[string]string{}
	for _, tag := range meta.Tags {
		f.Tags[tag.Tag] = tag.Value
	}
	if lang, err := p.FPDFCatalog_GetLanguage(&requests.FPDFCatalog_GetLanguage{Document: doc}); err == nil {
		f.Lang = lang.Language
	}
}
