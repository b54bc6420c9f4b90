package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"skink/internal/ingest"
	"skink/internal/session"
	"skink/report"
	"skink/store"
)

// TestFlagGroups checks that each flag of each command is under one heading of its help, and that
// the short help stays short.
func TestFlagGroups(t *testing.T) {
	for _, c := range commands() {
		flags, _ := c.newFlags()
		under := map[string]int{}
		common := 0
		for _, g := range c.groups(flags) {
			common += len(g.common)
			for _, name := range slices.Concat(g.common, g.rare) {
				under[name]++
				if flags.Lookup(name) == nil {
					t.Errorf("flagGroups: skink %s has no flag --%s", c.name, name)
				}
			}
			if len(flagGroups[c.name]) > 0 && g.example == "" {
				t.Errorf("skink %s --help: no example under %q", c.name, g.heading)
			}
		}
		flags.VisitAll(func(f *pflag.Flag) {
			if under[f.Name] != 1 {
				t.Errorf("skink %s --%s is under %d headings, want 1", c.name, f.Name, under[f.Name])
			}
		})
		if common > 13 {
			t.Errorf("skink %s --help shows %d flags, want at most 13: move some to rare in flagGroups", c.name, common)
		}
	}
	for name := range flagGroups {
		if !slices.Contains(commandNames(), name) {
			t.Errorf("flagGroups has %q, which is no command", name)
		}
	}
}

// TestHelpExamples parses the command lines that the helps show.
func TestHelpExamples(t *testing.T) {
	for _, c := range commands() {
		var help bytes.Buffer
		c.printHelp(&help, true)
		found := false
		for line := range strings.Lines(help.String()) {
			example := strings.TrimPrefix(strings.TrimSpace(line), "Example: ")
			words := strings.Fields(strings.NewReplacer("'", "").Replace(example))
			if len(words) < 2 || words[0] != "skink" || !strings.HasPrefix(line, "  ") {
				continue
			}
			i := slices.IndexFunc(commands(), func(c command) bool { return c.name == words[1] })
			if i < 0 {
				t.Errorf("skink %s --help: %q names no command", c.name, example)
				continue
			}
			found = true
			flags, _ := commands()[i].newFlags()
			if err := flags.Parse(words[2:]); err != nil {
				t.Errorf("skink %s --help: %q: %v", c.name, example, err)
			}
		}
		if !found {
			t.Errorf("skink %s --help has no example", c.name)
		}
	}
}

// TestUsageTexts checks that a usage text is one short line, and names the value of its flag.
func TestUsageTexts(t *testing.T) {
	for _, c := range commands() {
		flags, _ := c.newFlags()
		flags.VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); strings.HasPrefix(name, "string") || strings.Contains(f.Value.Type(), "tring") && !strings.HasPrefix(f.Usage, "`") {
				t.Errorf("skink %s --%s: the usage %q does not begin with the name of the value in back quotes", c.name, f.Name, f.Usage)
			}
			if text := flagText(f); len(text) > 140 || strings.Contains(text, "\n") {
				t.Errorf("skink %s --%s: the usage text has %d bytes, want one line of at most 140: %q", c.name, f.Name, len(text), text)
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite the words for states in docs/operations.md")

// TestGlossaryPage compares the last section of docs/operations.md with the glossary of package report.
func TestGlossaryPage(t *testing.T) {
	const file, begin = "../../docs/operations.md", "## Words for states\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(page), begin)
	if !found {
		t.Fatalf("%s has no heading %q", file, begin)
	}
	want := head + begin + "\n`skink help glossary` prints these tables, too.\n"
	for _, part := range glossaryParts() {
		want += "\n| " + part.heading + " | meaning |\n|---|---|\n"
		for _, term := range part.terms {
			want += "| " + term.Name + " | " + term.Meaning + " |\n"
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != want {
		t.Errorf("%s differs from the glossary: go test ./internal/cli -run TestGlossaryPage -update", file)
	}
}

// TestGlossary checks that every state that the program counts is in the glossary.
func TestGlossary(t *testing.T) {
	has := func(terms []report.Term, name string) bool {
		return slices.ContainsFunc(terms, func(t report.Term) bool { return t.Name == name })
	}
	for _, s := range session.States {
		if s.State == 0 {
			t.Errorf("%q of the glossary is no state of a URL", s.Name)
		}
	}
	for name := range (session.Counts{}).ByName() {
		if !has(report.URLStates(), name) {
			t.Errorf("the state %q is not in the glossary", name)
		}
	}
	for _, kind := range []store.VisitKind{store.FirstVisit, store.NotModified, store.Same, store.Altered, store.Vanished, store.Failed, ingest.Otherwise, ingest.StillNone} {
		if !has(report.VisitResults(), kind.String()) {
			t.Errorf("the visit result %q is not in the glossary", kind)
		}
	}
}

// TestManual compares the documentation of the program, in main.go, with what skink help prints.
func TestManual(t *testing.T) {
	source, err := os.ReadFile("../../main.go")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "//", "")), " ") }
	doc := plain(string(source))
	var manual bytes.Buffer
	printManual(&manual)
	for _, c := range commands() {
		line := c.usageLine() + " " + c.short
		if !strings.Contains(doc, line) {
			t.Errorf("main.go does not have %q", line)
		}
		if !strings.Contains(plain(manual.String()), line) {
			t.Errorf("skink help does not print %q", line)
		}
	}
	for _, e := range exitCodes {
		if line := fmt.Sprintf("%d %s", e.code, e.meaning); !strings.Contains(doc, line) || !strings.Contains(plain(manual.String()), line) {
			t.Errorf("main.go or skink help does not have the exit code %q", line)
		}
	}
}
