package audit

import (
	"context"
	"unicode/utf8"

	"skink/store"
)

const pagesName = "pages"

// pages lists every URL with all that is known of it, for a spreadsheet.
func pages(a *Audit) *List {
	l := &List{
		Name: pagesName, Of: "URLs",
		Columns: []Column{
			linksColumn, {"kind", "Kind", true}, {"status", "Status", true}, {"verdict", "Verdict", true}, {"words", "Words", true}, urlColumn, titleColumn,
			{"resemblance", "Alike", false}, {"duplicate_of", "Repeats", false}, {"indexed", "Indexed", false}, {"canonical", "Canonical", false},
			{"title_characters", "Title, characters", false}, {"description", "Description", false}, {"description_characters", "Description, characters", false},
			{"heading", "Heading", false}, {"headings", "Headings", false}, {"language", "Language", false}, {"languages", "Other languages", false},
			{"author", "Author", false}, {"published", "Published", false}, {"modified", "Modified", false},
			{"links_out", "Links out", false}, {"depth", "Clicks", false}, {"hops", "Hops", false}, {"location", "Leads to", false},
			{"problem", "Problem", false}, {"detail", "Detail", false}, {"type", "Type", false}, {"bytes", "Bytes", false}, {"milliseconds", "Milliseconds", false},
			{"host", "Host", false}, {"visited", "Visited", false}, {"id", "ID", false},
		},
		Findings: []*Finding{{}},
	}
	l.see = func(at int32, _ *store.Record) { l.found("", at, nobody) }
	l.cells = func(_ context.Context, s *subject) ([]any, error) {
		r := &s.page.Record
		isPage := r.Kind == store.Page
		only := func(v any) any {
			if !isPage {
				return nil
			}
			return v
		}
		var alike, languages any
		if r.Follows() {
			alike = Share(r.Resemblance)
		}
		var langs []string
		for _, alt := range r.Alternates {
			langs = append(langs, alt.Lang)
		}
		languages = listed(langs)
		var out any
		if a.Links && isPage {
			out = int64(a.site.pages[s.entry.page].out)
		}
		return []any{
			s.links(), string(r.Kind), number(r.Status), text(string(r.Verdict)), only(int64(r.Words)), URL(r.URL), text(r.Title),
			alike, link(r.DuplicateOf), only(indexed(r)), link(r.CanonicalURL),
			only(int64(utf8.RuneCountInString(r.Title))), text(r.Description), only(int64(utf8.RuneCountInString(r.Description))),
			text(firstOf(r.H1)), only(int64(len(r.H1))), text(r.Lang), languages,
			text(r.Author), text(r.PublishedAt), text(r.ModifiedAt),
			out, int64(r.Depth), number(r.Hops), link(r.Location),
			text(r.Problem), text(r.Detail), text(r.ContentType), r.Size, number(r.Took),
			text(store.HostOf(r.URL)), moment(r.Visited()), r.ID.String(),
		}, nil
	}
	return l
}
