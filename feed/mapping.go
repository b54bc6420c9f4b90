package feed

import (
	"encoding/json"
	"io"
)

// mapped maps each field of a [Document] to its type in Elasticsearch and OpenSearch. Fields whose
// values are matched as a whole, such as URLs, are keywords. A value that is too long for Lucene,
// which both use, stays in the document but is not indexed. So a document is never refused for a
// long URL.
var mapped = map[string]map[string]any{
	"id":              {"type": "keyword"},
	"url":             keyword,
	"redirected_from": keyword,
	"canonical_url":   keyword,
	"fetched_at":      date,
	"status":          {"type": "short"},
	"content_type":    keyword,
	"lang":            {"type": "keyword"},
	"title":           {"type": "text"},
	"description":     {"type": "text"},
	"author":          {"type": "text", "fields": map[string]any{"keyword": keyword}},
	"published_at":    date,
	"modified_at":     date,
	"site_name":       {"type": "text", "fields": map[string]any{"keyword": keyword}},
	"text":            {"type": "text"},
	"words":           {"type": "integer"},
	"hash":            {"type": "keyword"},
	"verdict":         {"type": "keyword"},
	"duplicate_of":    keyword,
	"duplicate_of_id": {"type": "keyword"},
	"resemblance":     {"type": "double"},
	"containment":     {"type": "double"},
	"noindex":         {"type": "boolean"},
	"rendered":        {"type": "boolean"},
	"change":          {"type": "keyword"},
	"boilerplate":     {"type": "integer"},
	"removed_words":   {"type": "integer"},
	"content_signals": {"type": "keyword"},
	"private":         {"type": "boolean"},
	"depth":           {"type": "integer"},
	"inlinks":         {"type": "integer"},
	"outlinks":        keyword,
	"headings":        {"type": "text"},
	"markdown":        {"type": "text", "index": false}, // not indexed, because searches use the field text
}

var (
	keyword = map[string]any{"type": "keyword", "ignore_above": 8191} // the limit is in characters of up to four bytes; Lucene accepts at most 32,766 bytes
	date    = map[string]any{"type": "date", "format": "strict_date_optional_time", "ignore_malformed": true}
)

// WriteMapping writes to w the body of the request PUT INDEX that creates an index for the
// documents of a feed. The index stores fields that the mapping does not name, but does not index
// them.
func WriteMapping(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"mappings": map[string]any{"dynamic": false, "properties": mapped}})
}
