package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"skink/base/harmless"
	"skink/internal/session"
	"skink/report"
	"skink/store"
	"skink/store/badger"
	"skink/store/disk"
	"skink/store/postgres"
)

var storeCommand = command{
	name:  "store",
	args:  "info|copy|drop [flags] [STORE...]",
	short: "describe, copy or remove stores",
	setup: setupStore,
}

type storeFlags struct {
	format string
	yes    bool
}

func setupStore(flags *pflag.FlagSet) runFunc {
	f := &storeFlags{format: "text"}
	flags.Var(oneOf(&f.format, "text", "json"), "format", "print the output of info in this format")
	flags.BoolVar(&f.yes, "yes", false, "with skink store drop: confirm the removal of the store")
	return f.run
}

var storeVerbs = []string{"info", "copy", "drop"}

func (f *storeFlags) run(ctx context.Context, con Console, args []string) error {
	verb, args := args[0], args[1:]
	if !slices.Contains(storeVerbs, verb) {
		return usagef("unknown action %s: must be info, copy or drop", brief(verb))
	}
	if f.yes && verb != "drop" {
		return usagef("--yes works only with skink store drop: omit it")
	}
	for i, name := range args {
		args[i] = nameOf(name)
		if _, err := addressOf(name); isShared(name) && err != nil {
			return err
		}
	}
	switch {
	case verb == "copy" && len(args) != 2:
		return usagef("specify a store and a new store: skink store copy STORE NEW")
	case verb == "copy":
		return copyStore(ctx, con, args[0], args[1])
	case len(args) > 1:
		return usagef("skink store %s takes one store: omit %s", verb, brief(args[1]))
	case verb == "drop" && len(args) == 0:
		return usagef("specify the store to remove: skink store drop --yes STORE")
	case verb == "drop":
		return f.drop(ctx, con, args[0])
	}
	return f.info(ctx, con, append(args, defaultStore())[0])
}

type storeInfo struct {
	Store    string           `json:"store"`
	Kind     string           `json:"kind"`            // "folder" or "server"
	Bytes    int64            `json:"bytes"`           // size in bytes; 0 means unknown
	Parts    map[string]int64 `json:"parts,omitempty"` // the same by extension of the files, or by table
	Free     int64            `json:"free_bytes"`      // free bytes on the disk of a folder; 0 means unknown
	Seeds    string           `json:"seeds,omitempty"`
	Records  int64            `json:"records"`
	Pages    int64            `json:"pages"`
	Verdicts map[string]int64 `json:"verdicts,omitempty"`
	URLs     map[string]int64 `json:"urls,omitempty"`
	Settings *store.Settings  `json:"settings,omitempty"` // nil means that the store has no settings yet
}

// infoOf describes the named store, and writes warnings about it to messages.
func infoOf(ctx context.Context, name string, messages io.Writer) (in storeInfo, err error) {
	in = storeInfo{Store: name, Kind: "folder"}
	if isShared(name) {
		in.Kind = "server"
	} else {
		in.Parts = disk.UseByExt(name)
		in.Free, _, _ = (&disk.Space{Dir: name}).Left() // 0 if the system does not report the free space
	}
	s, err := openToRead(ctx, name, messages)
	if err == nil {
		err = keepFirst(in.read(ctx, s), s.close())
	}
	return in, err
}

func (in *storeInfo) read(ctx context.Context, s *readStore) error {
	if server, ok := s.Reader.(*postgres.Store); ok {
		in.Parts = server.Size(ctx)
	}
	for _, bytes := range in.Parts {
		in.Bytes += bytes
	}
	seeds, err := session.ReadSeeds(ctx, s)
	if err != nil {
		return err
	}
	in.Seeds = seeds.Name()
	c, err := session.ReadCounts(ctx, s)
	if err != nil {
		return err
	}
	tally := &c.All
	in.Records, in.Pages = tally.Records(), tally.Pages()
	in.Verdicts = map[string]int64{"unique": tally.Unique, "exact": tally.Exact, "near": tally.Near, "thin": tally.Thin}
	in.URLs = c.ByName()
	in.Settings, err = store.ReadSettings(ctx, s)
	return err
}

func (f *storeFlags) info(ctx context.Context, con Console, name string) error {
	in, err := infoOf(ctx, name, con.Err)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return writeLine(con.Out, in)
	}
	w := tabwriter.NewWriter(con.Out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	row("store", harmless.Line(in.Store))
	row("kind", in.Kind)
	size := "unknown size"
	if in.Bytes != 0 {
		size = report.Bytes(in.Bytes)
	}
	row("size", size)
	var parts []string
	for _, part := range slices.SortedFunc(maps.Keys(in.Parts), func(a, b string) int { return cmp.Compare(in.Parts[b], in.Parts[a]) }) {
		if bytes := in.Parts[part]; bytes >= in.Bytes/100 {
			parts = append(parts, report.Bytes(bytes)+" "+part)
		}
	}
	row("parts", strings.Join(parts, ", "))
	if n := in.Records; n > 0 && in.Bytes > 0 {
		row("record", fmt.Sprintf("%s, as the mean of %s", report.Bytes(in.Bytes/n), report.Grouped(n)))
		row("tenfold", fmt.Sprintf("%s for %s", report.Bytes(10*in.Bytes), report.Counted(10*n, "record")))
	}
	if in.Free > 0 {
		row("free", report.Bytes(in.Free))
	}
	row("seeds", harmless.Line(in.Seeds))
	row("pages", fmt.Sprintf("%s: %s", report.Grouped(in.Pages), listed(in.Verdicts, "unique", "exact", "near", "thin")))
	row("urls", listed(in.URLs, namesOf(session.States, func(s session.NamedState) string { return s.Name })...))
	row("settings", settingsLine(in.Settings))
	if set := in.Settings; set != nil {
		row("versions", fmt.Sprintf("format %d, extractor %d, tokenizer %d, sketch %d", set.Format, set.Extractor, set.Tokenizer, set.Sketch))
	}
	return w.Flush()
}

// listed formats the nonzero numbers in the order of names, as in "3 pending, 2 failed".
func listed(numbers map[string]int64, names ...string) string {
	var all []string
	for _, name := range names {
		if n := numbers[name]; n != 0 {
			all = append(all, report.Grouped(n)+" "+name)
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// settingsLine returns the flags of skink crawl that would set these settings.
func settingsLine(set *store.Settings) string {
	if set == nil {
		return "none yet"
	}
	markdown := map[store.Markdown]string{store.WordsOnly: " --markdown", store.WithImages: " --markdown --images"}[set.Markdown]
	rule := ""
	if set.Contained > 0 {
		rule = fmt.Sprintf("--rule containment --containment %v ", set.Contained)
	}
	return rule + fmt.Sprintf("--similarity %v --scheme %s --shingle %d --unit %s --min-words %d --links %s --documents %s --on-duplicate %s%s",
		set.Similarity, set.Scheme, set.Shingle, set.Unit, set.MinWords, session.OnOff(!set.NoLinks), session.OnOff(set.Documents != 0), session.OnDuplicate(set.SkipTexts), markdown)
}

func (f *storeFlags) drop(ctx context.Context, con Console, name string) error {
	if !f.yes {
		return usagef("skink store drop removes %s permanently: add --yes to confirm", harmless.Quoted(name))
	}
	var other string
	var err error
	if isShared(name) {
		var at postgres.Address
		if at, err = addressOf(name); err == nil {
			err = postgres.Drop(ctx, at)
		}
	} else if err = isFolder(name); err == nil {
		other, err = badger.Remove(name)
	}
	if err != nil {
		return dropError(name, err)
	}
	fmt.Fprintf(con.Err, "removed %s\n", harmless.Line(name))
	if other != "" {
		fmt.Fprintf(con.Err, "the folder was not removed, because it also contains %s\n", harmless.Quoted(other))
	}
	return nil
}

func dropError(name string, err error) error {
	switch {
	case errors.Is(err, store.ErrInUse):
		return fmt.Errorf("%s: %w: stop that process first", name, inUse(name))
	case errors.Is(err, store.ErrNotExist):
		return fmt.Errorf("%s: %w: name another folder, or the schema of a database", name, store.ErrNotExist)
	}
	return err
}
