package e2e

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A flagOf is a command and one of its flags, without dashes.
type flagOf struct{ command, flag string }

// helpFlags returns the flags that the help of each command lists, with their defaults.
func helpFlags(t *testing.T) map[flagOf]string {
	t.Helper()
	all := map[flagOf]string{}
	for _, command := range commandNames(t) {
		out, err := exec.Command("skink", command, "--help", "--all").CombinedOutput()
		if err != nil {
			t.Fatalf("skink %s --help --all: %v\n%s", command, err, out)
		}
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)(.*)$`).FindAllStringSubmatch(string(out), -1) {
			if m[1] == "help" {
				continue
			}
			value := ""
			if d := regexp.MustCompile(`\(default (.*?)\)`).FindStringSubmatch(m[2]); d != nil {
				value = strings.Trim(d[1], `"`)
			}
			all[flagOf{command, m[1]}] = value
		}
	}
	return all
}

// commandNames returns the commands that skink help lists.
func commandNames(t *testing.T) (names []string) {
	t.Helper()
	out, err := exec.Command("skink", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("skink help: %v\n%s", err, out)
	}
	for _, m := range regexp.MustCompile(`(?m)^  skink ([a-z]+) `).FindAllStringSubmatch(string(out), -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	if len(names) < 10 {
		t.Fatalf("skink help lists only %v", names)
	}
	return names
}

// A flagRow is a row of a table of flags in the manual. Such a table has the first heading "flag
// of" or "flags of", followed by the names of commands as code.
type flagRow struct {
	page, defaultValue string
}

func flagRows(t *testing.T) map[flagOf][]flagRow {
	t.Helper()
	code := regexp.MustCompile("`([^`]+)`")
	rows := map[flagOf][]flagRow{}
	for _, page := range documents(t) {
		var commands []string
		for line := range strings.Lines(unfenced(t, page)) {
			cells := strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|")
			switch {
			case len(cells) < 4:
				commands = nil
				continue
			case strings.HasPrefix(strings.TrimSpace(cells[1]), "flag"):
				for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
					commands = append(commands, m[1])
				}
				continue
			}
			for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
				flag, isFlag := strings.CutPrefix(m[1], "--")
				flag, _, _ = strings.Cut(flag, " ")
				for _, command := range commands {
					if isFlag {
						f := flagOf{command, flag}
						rows[f] = append(rows[f], flagRow{page, strings.Trim(strings.TrimSpace(cells[2]), "`")})
					}
				}
			}
		}
	}
	return rows
}

// TestFlags compares the tables of flags in the manual with the help of the commands. Each flag of
// each command must be in exactly one row, with its default.
func TestFlags(t *testing.T) {
	t.Parallel()
	rows := flagRows(t)
	flags := helpFlags(t)
	for f, want := range flags {
		switch len(rows[f]) {
		case 0:
			t.Errorf("no table of the documents has skink %s --%s", f.command, f.flag)
		case 1:
			if row := rows[f][0]; !sameDefault(row.defaultValue, want) {
				t.Errorf("%s: the default of skink %s --%s is %q, want %q", row.page, f.command, f.flag, row.defaultValue, want)
			}
		default:
			t.Errorf("the tables of the documents have skink %s --%s %d times: %v", f.command, f.flag, len(rows[f]), rows[f])
		}
	}
	for f, r := range rows {
		if _, ok := flags[f]; !ok {
			t.Errorf("%s has a row about skink %s --%s, which does not exist", r[0].page, f.command, f.flag)
		}
	}
}

// TestCommands checks that the manual shows each command at least once.
func TestCommands(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	for _, page := range documents(t) {
		for _, c := range commandsOf(t, page) {
			shown.WriteString(c.line + " \n")
		}
	}
	for _, name := range commandNames(t) {
		if !strings.Contains(shown.String(), "skink "+name+" ") {
			t.Errorf("no document shows skink %s", name)
		}
	}
}

// sameDefault reports whether a table and the help of a command have the same default. A table may
// omit zeros of a duration, and describe an empty default or a list in words.
func sameDefault(table, help string) bool {
	a, errA := time.ParseDuration(table)
	b, errB := time.ParseDuration(help)
	return table == help || errA == nil && errB == nil && a == b || help == "" && !strings.ContainsAny(table, "0123456789\"") || strings.ContainsAny(help, " ,")
}

// TestFlagsInText checks that the manual mentions no flag that does not exist.
func TestFlagsInText(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"help": true, "all": true}
	for f := range helpFlags(t) {
		known[f.flag] = true
	}
	code := regexp.MustCompile("`[^`]*`")
	flag := regexp.MustCompile(`(?:^|[ |(])--([a-z][a-z-]*)`)
	for _, page := range documents(t) {
		var text []string
		for _, c := range commandsOf(t, page) {
			if strings.Contains(c.line, "skink ") {
				text = append(text, c.line)
			}
		}
		for _, span := range code.FindAllString(unfenced(t, page), -1) {
			text = append(text, strings.Trim(span, "`"))
		}
		for _, s := range text {
			if strings.HasPrefix(s, "curl") || strings.HasPrefix(s, "goreleaser") {
				continue
			}
			for _, m := range flag.FindAllStringSubmatch(s, -1) {
				if !known[m[1]] {
					t.Errorf("%s: no command has --%s, in %q", page, m[1], s)
				}
			}
		}
	}
}
