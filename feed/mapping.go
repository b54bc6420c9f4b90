package feed

import (
	"encoding/json"
	"io"
)

// mapped maps each field of a [Document] to its type in an index of Elasticsearch or OpenSearch. A
// field that is searched as a whole is a keyword. A value that is too long for Lucene is not
// indexed and stays in the document, so that no document is refused for its URL.
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
	"noindex":         {"type": "boolean"},
	"rendered":        {"type": "boolean"},
	"change":          {"type": "keyword"},
	"boilerplate":     {"type": "integer"},
	"removed_words":   {"type": "integer"},
	"content_signals": {"type": "keyword"},
	"private":         {"type": "boolean"},
	"markdown":        {"type": "text", "index": false}, // the text is what is looked up
}

var (
	keyword = map[string]any{"type": "keyword", "ignore_above": 8191} // characters; Lucene takes 32,766 bytes
	date    = map[string]any{"type": "date", "format": "strict_date_optional_time", "ignore_malformed": true}
)

// WriteMapping writes a mapping for an index that takes the documents: the body of PUT INDEX. The
// index ignores fields that the mapping does not name.
func WriteMapping(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"mappings": map[string]any{"dynamic": false, "properties": mapped}})
}
