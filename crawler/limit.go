package crawler

import (
	"net/http"
	"slices"
	"strings"

	"skink/crawler/wire"
	"skink/frontier"
)

// limit returns how much of a response to read: fixed bytes, or if fixed is 0, Options.MaxFileSize
// for files and Options.MaxSize for pages.
func (o *Options) limit(p purpose, fixed int64) wire.Limit {
	return func(h http.Header) int64 {
		switch {
		case fixed > 0:
			return fixed
		case isFile(p, h.Get("Content-Type")):
			return o.MaxFileSize
		}
		return o.MaxSize
	}
}

// LimitOf returns the size in bytes at which a response for an item is cut, if it has a media type.
func (o *Options) LimitOf(item frontier.Item, contentType string) int64 {
	set := o.orDefaults()
	return set.limit(purposeOf(item), 0)(http.Header{"Content-Type": {contentType}})
}

// isFile reports whether a response is no page, judging by the purpose of its request and by its
// media type.
func isFile(p purpose, contentType string) bool {
	if isHTML(contentType) {
		return false
	}
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	top, _, _ := strings.Cut(media, "/")
	return p == forRequisite || p == forPart || slices.Contains(fileKinds, top) || slices.Contains(fileTypes, media)
}

// Media types of files that contain no text to read. Types that are not listed may contain text.
var (
	fileKinds = []string{"audio", "font", "image", "video"}
	fileTypes = strings.Fields(`text/css text/javascript application/javascript application/x-javascript application/wasm
		application/octet-stream application/zip application/gzip application/x-gzip application/x-tar application/x-bzip2
		application/x-xz application/zstd application/x-7z-compressed application/vnd.rar application/x-rar-compressed
		application/java-archive application/vnd.android.package-archive application/x-iso9660-image
		application/x-msdownload application/vnd.debian.binary-package application/font-woff application/vnd.ms-fontobject`)
)
