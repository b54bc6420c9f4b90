package view

import (
	"net/http"

	"skink/store"
)

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
