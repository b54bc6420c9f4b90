package crawler

import (
	"strings"
	"testing"

	"skink/frontier"
)

// A response that may contain text has the limit for pages, unless a page only needs it to be shown.
func TestLimits(t *testing.T) {
	opt := Options{MaxSize: 10, MaxFileSize: 3}
	for types, want := range map[string]int64{
		"|text/html; charset=utf-8|application/xhtml+xml|text/plain|application/pdf|application/rss+xml": 10,
		"image/png|IMAGE/SVG+XML ; x|video/mp4|text/css|application/zip|application/octet-stream":        3,
	} {
		for contentType := range strings.SplitSeq(types, "|") {
			same(t, contentType, opt.LimitOf(frontier.Item{}, contentType), want)
		}
	}
	for contentType, want := range map[string]int64{"text/html": 10, "application/json": 3, "": 3} {
		same(t, "requisite "+contentType, opt.LimitOf(frontier.Item{Kind: frontier.Requisite}, contentType), want)
	}
	opt.MaxFileSize = 0
	same(t, "no limit of its own", opt.LimitOf(frontier.Item{}, "image/png"), 10)
}
