package markup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// data collects the page's structured data in JSON-LD. Objects with the same @id are one object.
type data struct {
	texts []string
	typed bool // a script mentions one of the types in required
	all   []map[string]any
	byID  map[string]map[string]any
}

// maxData is the maximum size in bytes of a script that is read. A larger script usually describes
// many products rather than the page.
const maxData = 1 << 18

// required maps each type of object to the properties without which search engines ignore it. Of
// properties separated by "|", one is enough. The properties are from
// https://developers.google.com/search/docs/appearance/structured-data/search-gallery.
var required = map[string][]string{
	"BreadcrumbList":      {"itemListElement"},
	"Dataset":             {"name", "description"},
	"Event":               {"name", "startDate", "location"},
	"FAQPage":             {"mainEntity"},
	"JobPosting":          {"title", "description", "datePosted", "hiringOrganization", "jobLocation|jobLocationType"},
	"LocalBusiness":       {"name", "address"},
	"Product":             {"name", "review|aggregateRating|offers"},
	"QAPage":              {"mainEntity"},
	"Recipe":              {"name", "image"},
	"Review":              {"author", "itemReviewed", "reviewRating"},
	"SoftwareApplication": {"name", "offers", "aggregateRating|review"},
	"VideoObject":         {"name", "thumbnailUrl", "uploadDate"},
}

var requiredTypes = slices.Sorted(maps.Keys(required))

func (d *data) read(r *reader, text string) {
	if text = bare(text); text == "" || len(text) > maxData {
		return
	}
	if !json.Valid([]byte(text)) {
		r.found(DataInvalid, text)
		return
	}
	d.texts = append(d.texts, text)
	d.typed = d.typed || slices.ContainsFunc(requiredTypes, func(t string) bool { return strings.Contains(text, t) })
}

// bare strips a byte order mark, and the comments that hide a script from old browsers.
func bare(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	for _, c := range [...]struct{ begin, end string }{{"//<![CDATA[", "//]]>"}, {"/*<![CDATA[*/", "/*]]>*/"}, {"<![CDATA[", "]]>"}, {"<!--", "-->"}} {
		if after, ok := strings.CutPrefix(text, c.begin); ok {
			text = strings.TrimSpace(strings.TrimSuffix(after, c.end))
		}
	}
	return text
}

// add adds the objects of a value that describe the page. It leaves out objects nested in these,
// because they may be incomplete. known reports whether the vocabulary is that of schema.org.
func (d *data) add(v any, known bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			d.add(one, known)
		}
	case map[string]any:
		known = known || isSchema(v["@context"])
		if graph, ok := v["@graph"]; ok {
			d.add(graph, known)
			return
		}
		if !known {
			return
		}
		id, _ := v["@id"].(string)
		if first, ok := d.byID[id]; ok && id != "" {
			maps.Copy(first, v)
			return
		}
		if d.byID == nil {
			d.byID = map[string]map[string]any{}
		}
		d.byID[id] = v
		d.all = append(d.all, v)
	}
}

func isSchema(context any) bool {
	switch c := context.(type) {
	case string:
		c = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c, "https://"), "http://"), "/")
		return strings.TrimPrefix(c, "www.") == "schema.org"
	case []any:
		return slices.ContainsFunc(c, isSchema)
	case map[string]any:
		return isSchema(c["@vocab"])
	}
	return false
}

// conclude finds the objects that lack a required property. Scripts are decoded only if one of them
// mentions a type with required properties.
func (d *data) conclude(r *reader) {
	if !d.typed {
		return
	}
	for _, text := range d.texts {
		var v any
		if json.Unmarshal([]byte(text), &v) == nil {
			d.add(v, false)
		}
	}
	for _, object := range d.all {
		name, _ := object["@type"].(string)
		name = name[strings.LastIndexAny(name, "/:")+1:]
		var missing []string
		for _, alternatives := range required[name] {
			if !slices.ContainsFunc(strings.Split(alternatives, "|"), func(p string) bool { return object[p] != nil }) {
				missing = append(missing, strings.ReplaceAll(alternatives, "|", " or "))
			}
		}
		if missing != nil {
			r.found(DataIncomplete, name+" without "+strings.Join(missing, ", "))
		}
	}
}
