package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// TestURLFlags gives each flag with a text as its value a URL with a password. Neither the output
// of its command, nor that of skink config, nor a file may contain the password.
func TestURLFlags(t *testing.T) {
	const secret = "sesame-4719"
	urls := []string{
		"https://me:%s@127.0.0.1:1/pages", "https://me:%s@127.0.0.1:1/", "https://me:%s/x@127.0.0.1:1/pages", "https://me:a/%s@127.0.0.1:1/pages",
		"https://me:a?%s@127.0.0.1:1/pages", "https://me:a#%s@127.0.0.1:1/pages", "https://%s@127.0.0.1:1/pages", "s3://me:%s@bucket/key",
		"http://me:%s@127.0.0.1:1", "socks5://me:%s@", "http://me:%s@[", "postgres://me:%s@127.0.0.1:1/crawls", "postgres://me:%s@127.0.0.1:1",
		"postgres://127.0.0.1:1/crawls?password=%s", "postgres://me@127.0.0.1:1/crawls?sslpassword=%s&schema=A",
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, key := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(key, "key")
	}
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("<p>A page."), 0o600); err != nil {
		t.Fatal(err)
	}
	pages := map[string][]string{"dedup": {page}, "extract": {page}, "compare": {page, page}}
	run := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond) // as long as a server that does not answer is tried
		defer cancel()
		_ = Run(ctx, args, Console{In: strings.NewReader(""), Out: &out, Err: &out, Columns: func() int { return 80 }})
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, secret) {
				t.Errorf("skink %s prints the password: %s", strings.Join(args, " "), line)
			}
		}
	}
	tried := 0
	for _, c := range commands() {
		flags, _ := c.newFlags()
		flags.VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Value.Type(), "string") {
				return
			}
			for _, url := range urls {
				if strings.HasPrefix(url, "postgres") && f.Name != "store" {
					continue
				}
				given := "--" + f.Name + "=" + fmt.Sprintf(url, secret)
				run(append([]string{c.name, given}, pages[c.name]...)...)
				tried++
			}
		})
	}
	for _, url := range urls {
		for _, verb := range []string{"list", "info", "drop"} {
			run("store", verb, fmt.Sprintf(url, secret))
		}
		run("store", "copy", fmt.Sprintf(url, secret), "new")
		run("store", "copy", "new", fmt.Sprintf(url, secret))
		for _, command := range []string{"crawl", "extract", "compare", "dedup"} {
			run(command, fmt.Sprintf(url, secret))
		}
	}
	if tried < 20*len(urls) {
		t.Errorf("only %d values of flags were tried", tried)
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte(secret)) && !slices.Contains(strings.Split(name, string(filepath.Separator)), "https:") {
			t.Errorf("%s contains the password", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The name of a store has no password, and a connection uses the whole address.
func TestNameOf(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://me:sesame@db.test/crawls?schema=docs&sslmode=disable": "postgres://me@db.test/crawls?schema=docs",
		"postgres://db.test/crawls?password=sesame":                       "postgres://db.test/crawls?schema=skink",
		"postgresql://me:sesame@db.test":                                  "postgresql://…@db.test",
		"https://me:sesame@db.test/":                                      "https://…@db.test/",
		"data":                                                            "data",
		"a:b@c":                                                           "a:b@c",
	} {
		name := nameOf(address)
		if name != want {
			t.Errorf("%s has the name %s, want %s", address, name, want)
		}
		if at, err := addressOf(name); err == nil && (at.String() != name || fullAddress(name) != address) {
			t.Errorf("%s leads to %s", name, fullAddress(name))
		}
	}
}
