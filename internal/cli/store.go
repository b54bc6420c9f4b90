package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	args:  "list|info|copy|drop [flags] [STORE...]",
	short: "list, describe, copy or remove stores",
	long: `
Manages the stores of crawls. STORE is a folder, or the address of a PostgreSQL schema.

skink store list prints the stores in a folder and its subfolders, or in the database at an
address. Without an argument, it looks in the current folder. skink store info prints the
contents of a store, and the settings used to judge its pages. Both commands work while a
crawl is running.

skink store copy STORE NEW copies a store from a folder or a server to a new folder or
schema. A crawl can continue from the copy. Use it to make a backup, or to move a crawl to or
from a server that many machines share. If a crawl is running, the copy is a snapshot. If
copying is interrupted, skink removes the incomplete copy. If skink is killed, no command
accepts the incomplete copy; start again.

skink store drop --yes permanently removes a store. It does not remove a store that is in use,
and it keeps any other files in the store's folder.

These commands list the stores in the current folder, and make a backup of a store:

  skink store list
  skink store copy docs backup/docs`,
	setup: setupStore,
}

type storeFlags struct {
	format string
	yes    bool
}

func setupStore(flags *pflag.FlagSet) runFunc {
	f := &storeFlags{format: "text"}
	flags.Var(oneOf(&f.format, "text", "json"), "format", "print the output of list and info in this format; json prints one object per store")
	flags.BoolVar(&f.yes, "yes", false, "with skink store drop: confirm the removal of the store")
	return f.run
}

var storeVerbs = []string{"list", "info", "copy", "drop"}

func (f *storeFlags) run(ctx context.Context, con Console, args []string) error {
	verb, args := args[0], args[1:]
	if !slices.Contains(storeVerbs, verb) {
		return usagef("unknown action %s: must be list, info, copy or drop", brief(verb))
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
	case verb == "info":
		return f.info(ctx, con, append(args, defaultStore())[0])
	}
	return f.list(ctx, con, append(args, ".")[0])
}

type storeInfo struct {
	Store    string           `json:"store"`
	Kind     string           `json:"kind"`            // "folder" or "server"
	Bytes    int64            `json:"bytes"`           // size in bytes; 0 means unknown
	Free     int64            `json:"free_bytes"`      // free bytes on the disk of a folder; 0 means unknown
	Error    string           `json:"error,omitempty"` // reason why the store cannot be read; if set, the fields below are empty
	Seeds    string           `json:"seeds,omitempty"`
	Pages    int64            `json:"pages"`
	Verdicts map[string]int64 `json:"verdicts,omitempty"`
	URLs     map[string]int64 `json:"urls,omitempty"`
	Settings *store.Settings  `json:"settings,omitempty"` // nil means that the store has no settings yet
}

// infoOf describes the named store, and writes warnings about it to messages. If the store cannot
// be read, the error is also recorded in the result, so one damaged store does not abort a listing.
func infoOf(ctx context.Context, name string, messages io.Writer) (in storeInfo, err error) {
	in = storeInfo{Store: name, Kind: "folder"}
	if isShared(name) {
		in.Kind = "server"
	} else {
		in.Bytes = disk.Use(name)
		in.Free, _, _ = (&disk.Space{Dir: name}).Left() // 0 if the system does not report the free space
	}
	s, err := openToRead(ctx, name, messages)
	if err == nil {
		err = keepFirst(in.read(ctx, s), s.close())
	}
	if err != nil {
		in.Error = err.Error()
	}
	return in, err
}

func (in *storeInfo) read(ctx context.Context, s *readStore) error {
	if server, ok := s.Reader.(*postgres.Store); ok {
		in.Bytes = server.Size(ctx)
	}
	seeds, err := session.ReadSeeds(ctx, s)
	if err != nil {
		return err
	}
	in.Seeds = seeds.Name()
	tally, err := s.Tally(ctx)
	if err != nil {
		return err
	}
	counts, err := s.Counts(ctx)
	if err != nil {
		return err
	}
	in.Pages = tally.Pages()
	in.Verdicts = map[string]int64{"unique": tally.Unique, "exact": tally.Exact, "near": tally.Near, "thin": tally.Thin}
	in.URLs = session.CountsByName(counts, session.LikelyPostponed(counts, tally))
	in.Settings, err = store.ReadSettings(ctx, s)
	return err
}

func (f *storeFlags) list(ctx context.Context, con Console, where string) error {
	names, err := storesIn(ctx, where)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(con.Out, 0, 0, 2, ' ', 0)
	for _, name := range names {
		in, err := infoOf(ctx, name, io.Discard)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f.format == "json" {
			err = writeLine(con.Out, in)
		} else {
			_, err = fmt.Fprintln(w, in.line(err))
		}
		if err != nil {
			return err
		}
	}
	if len(names) == 0 {
		fmt.Fprintf(con.Err, "no store in %s\n", harmless.Quoted(where))
	}
	return w.Flush()
}

func (in storeInfo) line(err error) string {
	columns := []string{harmless.Line(in.Store), sizeText(in.Bytes), report.Counted(in.Pages, "page"), report.Grouped(in.URLs["pending"]) + " pending", harmless.Line(in.Seeds)}
	if err != nil {
		columns = []string{harmless.Line(in.Store), sizeText(in.Bytes), "cannot be read: " + harmless.Line(strings.TrimPrefix(err.Error(), in.Store+": "))}
	}
	return strings.Join(columns, "\t")
}

// storesIn returns the names of the stores in a folder and its subfolders, or in a database.
func storesIn(ctx context.Context, where string) (names []string, err error) {
	if isShared(where) {
		at, err := addressOf(where)
		if err != nil {
			return nil, err
		}
		schemas, err := postgres.Schemas(ctx, at)
		for _, schema := range schemas {
			names = append(names, nameOf(postgres.InSchema(fullAddress(where), schema)))
		}
		return names, err
	}
	if err := isFolder(where); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(where)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("folder %s does not exist", where)
	}
	if badger.IsStore(where) {
		names = append(names, where)
	}
	for _, e := range entries {
		if name := filepath.Join(where, e.Name()); badger.IsStore(name) {
			names = append(names, name)
		}
	}
	return names, err
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
	row("size", sizeText(in.Bytes))
	if in.Free > 0 {
		row("free", report.Bytes(in.Free))
	}
	row("seeds", harmless.Line(in.Seeds))
	row("pages", fmt.Sprintf("%s: %s", report.Grouped(in.Pages), listed(in.Verdicts, "unique", "exact", "near", "thin")))
	row("urls", listed(in.URLs, stateNames()...))
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
	return rule + fmt.Sprintf("--similarity %v --scheme %s --shingle %d --unit %s --form %s --min-words %d --links %s --documents %s --on-duplicate %s%s",
		set.Similarity, set.Scheme, set.Shingle, set.Unit, set.Form, set.MinWords, onOrOff(!set.NoLinks), onOrOff(set.Documents != 0), session.OnDuplicate(set.SkipTexts), markdown)
}

func sizeText(bytes int64) string {
	if bytes == 0 {
		return "unknown size"
	}
	return report.Bytes(bytes)
}

func (f *storeFlags) drop(ctx context.Context, con Console, name string) error {
	if !f.yes {
		return usagef("skink store drop removes %s permanently: add --yes to confirm", harmless.Quoted(name))
	}
	if isShared(name) {
		at, err := addressOf(name)
		if err != nil {
			return err
		}
		if err := postgres.Drop(ctx, at); err != nil {
			return dropError(name, err)
		}
		fmt.Fprintf(con.Err, "removed %s\n", harmless.Line(name))
		return nil
	}
	if err := isFolder(name); err != nil {
		return err
	}
	other, err := badger.Remove(name)
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
		return fmt.Errorf("%s: %w: stop that process first", name, store.ErrInUse)
	case errors.Is(err, store.ErrNotExist):
		return fmt.Errorf("%s: %w: run skink store list to list the stores of a folder or a database", name, store.ErrNotExist)
	}
	return err
}
