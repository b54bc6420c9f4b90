package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"skink/dedup"
	"skink/internal/tools/storetest"
	"skink/report"
	"skink/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

var formats = []report.Format{report.Text, report.JSON, report.CSV, report.HTML}

func TestGolden(t *testing.T) {
	for _, fixture := range []struct {
		name string
		src  report.Source
	}{
		{"nasty", report.FromStore(nasty(t))},
		{"empty", report.FromStore(storetest.NewMemory())},
		{"unique", report.FromStore(fill(t, []numbered{page(1, "https://example.com/", "Alone", dedup.Unique)}))},
		{"untranslated", untranslated(t)},
	} {
		for _, f := range formats {
			t.Run(fixture.name+"/"+string(f), func(t *testing.T) {
				golden(t, fixture.name+"."+extension(f), writeSource(t, fixture.src, report.Options{Format: f}))
			})
		}
	}
}

func extension(f report.Format) string {
	if f == report.Text {
		return "txt"
	}
	return string(f)
}

func write(t testing.TB, s store.Store, opt report.Options) []byte {
	t.Helper()
	return writeSource(t, report.FromStore(s), opt)
}

func writeSource(t testing.TB, src report.Source, opt report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(context.Background(), &b, src, opt); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update accepts it); got:\n%s", file, got)
	}
}

// The streamed JSON must equal the output of encoding/json for a whole Report.
func TestJSONRoundTrip(t *testing.T) {
	var got report.Report
	dec := json.NewDecoder(bytes.NewReader(write(t, nasty(t), report.Options{Format: report.JSON})))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	totals := report.Totals{Pages: 14, Tally: store.Tally{
		Unique: 5, Exact: 2, Near: 5, Thin: 2, Other: 1, Redirects: 1, Errors: 3,
		Skipped: 1, Capped: 1, Blocked: 1, Problems: map[string]int64{"status 404": 2, "timeout\x1b]0;title\a": 1},
	}}
	if g, w := jsonOf(t, got.Totals), jsonOf(t, totals); g != w {
		t.Errorf("totals\n got %s\nwant %s", g, w)
	}
	var leaders []string
	for _, c := range got.Clusters {
		leaders = append(leaders, c.Leader.URL)
	}
	want := []string{
		"https://example.com/a?x=1&y=2", `=HYPERLINK("https://evil.example/")`,
		"https://mirror.example:8443/latin1", "https://example.com/hidden",
	}
	if !slices.Equal(leaders, want) {
		t.Errorf("leaders\n got %q\nwant %q", leaders, want)
	}
	byResemblance := []report.Member{
		{URL: "https://mirror.example:8443/a", Verdict: "exact", Resemblance: 1},
		{URL: `javascript:alert(1)//"><img src=x onerror=alert(1)>`, Verdict: "near", Resemblance: 0.9999},
		{URL: "https://example.com/b", Verdict: "near", Resemblance: 0.9},
		{URL: "https://example.com/c", Verdict: "near", Resemblance: 0.8123456},
	}
	if !slices.Equal(got.Clusters[0].Members, byResemblance) {
		t.Errorf("members\n got %+v\nwant %+v", got.Clusters[0].Members, byResemblance)
	}
}

func jsonOf(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Programs read these names in this order, so they must not change.
func TestJSONNames(t *testing.T) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, write(t, storetest.NewMemory(), report.Options{Format: report.JSON})); err != nil {
		t.Fatal(err)
	}
	want := `{"pages":0,"unique":0,"exact":0,"near":0,"thin":0,"other":0,"redirects":0,"errors":0,` +
		`"skipped":0,"unkept":0,"capped":0,"blocked":0,"bytes":0,"hosts":[],"clusters":[]}`
	if got := compact.String(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range formats {
		if got, err := report.ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	if _, err := report.ParseFormat("xml"); err == nil {
		t.Error("ParseFormat(xml): no error")
	}
	if err := report.Write(context.Background(), nil, nil, report.Options{Format: "xml"}); err == nil {
		t.Error("Write in format xml: no error")
	}
}

// Hosts must be sorted by the number of duplicates, then by name, for any source.
func TestHostOrder(t *testing.T) {
	src := fake{hosts: []report.Host{
		{Host: "b", Pages: 9, Unique: 9}, {Host: "a", Pages: 9, Unique: 9},
		{Host: "one", Pages: 1, Near: 1}, {Host: "two", Pages: 9, Unique: 7, Exact: 1, Near: 1},
	}}
	var b bytes.Buffer
	if err := report.Write(context.Background(), &b, src, report.Options{Format: report.JSON}); err != nil {
		t.Fatal(err)
	}
	var got report.Report
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range got.Hosts {
		names = append(names, h.Host)
	}
	if want := []string{"two", "one", "a", "b"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// If a source fails in the middle, Write must return the error. Otherwise an incomplete report
// could look complete.
func TestErrorInTheMiddle(t *testing.T) {
	broken := errors.New("disk went away")
	for _, f := range formats {
		for name, src := range map[string]fake{
			"head":     {headErr: broken},
			"clusters": {clusters: 3, clustersErr: broken},
			"members":  {clusters: 3, members: 3, membersErr: broken},
		} {
			err := report.Write(context.Background(), new(bytes.Buffer), src, report.Options{Format: f})
			if !errors.Is(err, broken) {
				t.Errorf("%s, broken %s: error %v", f, name, err)
			}
		}
	}
}

func TestWriterError(t *testing.T) {
	for _, f := range formats {
		src := fake{clusters: 1000, members: 100}
		if err := report.Write(context.Background(), fullDisk{}, src, report.Options{Format: f}); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v, want %v", f, err, errFull)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, f := range formats {
		if err := report.Write(ctx, new(bytes.Buffer), fake{clusters: 2}, report.Options{Format: f}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", f, err)
		}
	}
}

// A leader without a record means that the store is damaged. The report must fail.
func TestLostLeader(t *testing.T) {
	s := fill(t, []numbered{copyOf(7, page(8, "https://example.com/", "", dedup.Near), 0.9)})
	err := report.Write(context.Background(), new(bytes.Buffer), report.FromStore(s), report.Options{})
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error %v, want %v", err, store.ErrCorrupt)
	}
}

// A fake is a source of any size, which can fail at the end of each list.
type fake struct {
	hosts                   []report.Host
	clusters, members       int
	headErr                 error
	clustersErr, membersErr error
}

func (f fake) Head(context.Context) (report.Report, error) {
	n := int64(f.clusters * f.members)
	return report.Report{Totals: report.Totals{Pages: n + int64(f.clusters), Tally: store.Tally{Unique: int64(f.clusters), Near: n}}, Hosts: f.hosts}, f.headErr
}

func (f fake) Clusters(context.Context, int) iter.Seq2[report.Cluster, error] {
	leader := report.Leader{URL: "https://example.com/", Title: "Title", Why: "first seen"}
	return repeat(report.Cluster{Leader: leader, Size: f.members, Members: f.list()}, f.clusters, f.clustersErr)
}

func (f fake) list() iter.Seq2[report.Member, error] {
	return repeat(report.Member{URL: "https://example.com/copy", Verdict: "near", Resemblance: 0.9}, f.members, f.membersErr)
}

func repeat[T any](v T, n int, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for range n {
			if !yield(v, nil) {
				return
			}
		}
		if err != nil {
			yield(*new(T), err)
		}
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
