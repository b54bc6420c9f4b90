package feed

import (
	"encoding/json"
	"io"
	"reflect"
)

// indexTypes are the types of the fields of a [Document] or a [Passage] in Elasticsearch and OpenSearch, by the name
// in the field's tag "index". Fields whose values are matched as a whole, such as URLs, are keywords.
// A value that is too long for Lucene, which both use, stays in the document but is not indexed. So a
// document is never refused for a long URL.
var indexTypes = map[string]map[string]any{
	"id":      {"type": "keyword"}, // values that are never too long
	"keyword": keyword,
	"text":    {"type": "text"},
	"name":    {"type": "text", "fields": map[string]any{"keyword": keyword}},
	"kept":    {"type": "text", "index": false}, // not indexed, because searches use the field text
	"date":    {"type": "date", "format": "strict_date_optional_time", "ignore_malformed": true},
	"short":   {"type": "short"},
	"integer": {"type": "integer"},
	"double":  {"type": "double"},
	"boolean": {"type": "boolean"},

	"object":      {"type": "object", "dynamic": true}, // see dynamic_templates
	"occurrences": {"type": "object", "properties": map[string]any{"url": keyword, "page_id": map[string]any{"type": "keyword"}, "position": map[string]any{"type": "integer"}}},
}

var keyword = map[string]any{"type": "keyword", "ignore_above": 8191} // the limit is in characters of up to four bytes; Lucene accepts at most 32,766 bytes

// WriteMapping writes to w the body of the request PUT INDEX that creates an index for documents like
// v, a [Document] or a [Passage]. The index stores fields that the mapping does not name, but does not index
// them.
func WriteMapping(w io.Writer, v any) error {
	mapped, t := map[string]any{}, reflect.TypeOf(v)
	for i, c := range columnsOf(t) {
		mapped[c.Name] = indexTypes[t.Field(i).Tag.Get("index")]
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	fields := map[string]any{"fields": map[string]any{"path_match": "fields.*", "mapping": indexTypes["name"]}}
	return enc.Encode(map[string]any{"mappings": map[string]any{"dynamic": false, "dynamic_templates": []any{fields}, "properties": mapped}})
}
