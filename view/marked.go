package view

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"skink/base/harmless"
	"skink/store"
)

// markedPolicy is the Content-Security-Policy of a crawled page that is shown with its extracted
// text highlighted. Before the page is sent, its attributes, scripts, images and links are
// removed. Then the page needs only the view's own style, which colors the highlighted text.
const markedPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"

// maxMarked is the maximum size in bytes of a page that is shown with highlighted text.
const maxMarked = 1000 << 10

var errFull = errors.New("the page is too large to show completely")

// A bounded is a buffer for at most maxMarked bytes. A Write beyond that returns errFull.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxMarked - b.Len(); len(p) > room {
		b.Buffer.Write(p[:room])
		return room, errFull
	}
	return b.Buffer.Write(p)
}

// picture sends the picture of a page, which a browser shows as an image only.
func (v *View) picture(w http.ResponseWriter, r *http.Request) {
	var image []byte
	err := v.opt.Store.Read(r.Context(), func(s store.Reader) error {
		c, err := content(r.Context(), s, r.PathValue("id"), store.WantRecord)
		if err == nil {
			image = v.opt.Picture(r.Context(), s, &c.Record)
		}
		return err
	})
	if err != nil || image == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(image) // an error means that the browser closed the connection
}

func (v *View) markedPage(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
	defer cancel()
	var page bounded
	guard := harmless.HTML(&page)
	err := v.opt.Store.Read(ctx, func(s store.Reader) error {
		c, err := content(ctx, s, r.PathValue("id"), store.WantRecord)
		if err != nil {
			return err
		}
		if err := v.opt.Marked(ctx, s, &c.Record, guard); err != nil {
			return err
		}
		return guard.Flush()
	})
	switch {
	case errors.Is(err, errFull):
		page.Truncate(max(bytes.LastIndexByte(page.Bytes(), '<'), 0)) // remove a tag that was cut off
		page.Buffer.WriteString("<p>The rest of the page is not shown.</p>")
	case err != nil:
		http.Error(w, "The page cannot be shown: "+harmless.Line(err.Error())+".", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", markedPolicy)
	_, _ = page.WriteTo(w) // an error means that the browser closed the connection
}
