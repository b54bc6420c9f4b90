package config

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"skink/crawler/access"
)

const word = "sesame-is-secret"

func flagSet(names ...string) *pflag.FlagSet {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.SortFlags = false
	for _, name := range names {
		switch name {
		case "exclude":
			flags.StringArray(name, nil, "")
		case "obey-nofollow":
			flags.Bool(name, false, "")
		case "max-pages":
			flags.Int(name, 0, "")
		default:
			flags.String(name, "", "")
		}
	}
	return flags
}

// options returns options for a crawl whose command line has --format.
func TestMain(m *testing.M) {
	os.Setenv("TOKEN", word)
	os.Setenv("EMPTY", "")
	os.Exit(m.Run())
}

func options() Options {
	opt := Options{
		Command: "crawl", Main: "crawl", Shared: "store",
		Flags: map[string]*pflag.FlagSet{
			"crawl":  flagSet("delay", "exclude", "max-pages", "obey-nofollow", "similarity", "store", "view", "format", "feed", "help"),
			"report": flagSet("top", "store"),
			"view":   flagSet("addr"),
		},
		Seed: func(s *access.Seed, flags *pflag.FlagSet) {
			flags.StringVar(&s.URL, "url", "", "")
			flags.StringVar(&s.Scope, "scope", "", "")
		},
		Host: func(h *access.Host, flags *pflag.FlagSet) {
			flags.Func("delay", "", func(text string) error {
				d, err := time.ParseDuration(text)
				h.Delay = &d
				return err
			})
			flags.Func("logout", "", func(text string) error {
				on := text == "true"
				h.Logout = &on
				return nil
			})
			flags.StringVar(&h.UserAgent, "user-agent", "", "")
		},
		Suggest: func(word string, names []string) string { return "try " + names[0] },
		Invalid: func(err error, flags *pflag.FlagSet) error { return err },
	}
	_ = opt.Flags["crawl"].Set("format", "json")
	return opt
}

// given returns the flags that a file has set, with their sources.
func given(flags *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	flags.Visit(func(f *pflag.Flag) {
		if from := f.Annotations[Source]; from != nil {
			all[f.Name] = f.Value.String() + " " + strings.Join(from, " ")
		}
	})
	return all
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "skink.toml")
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("from file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cookies.txt"), []byte("example.org\tFALSE\t/\tTRUE\t0\tid\t7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `delay = "500ms"
exclude = ["a", 'b\d$']
max-pages = 1_000
obey-nofollow = true
similarity = "${TOKEN}"
format = "${NO_SUCH_VARIABLE}" # given on the command line
store = "data"

[report]
top = "${NO_SUCH_VARIABLE}" # a flag of another command

[host."Intranet.example.org"]
headers = { "x-token" = "${TOKEN}", "X-Price" = "$${5}" }
cookies = "cookies.txt"
proxy = "socks5://me:${TOKEN}@127.0.0.1:1080"
user = "me"
password = "${file:password}"
delay = "2s"
logout = false
[host."*.example.com".login]
page = "https://www.example.com/login"
fields = { user = "me", password = "${TOKEN}" }
check = "Log out"
[host."*.example.com"]
proxy = "direct"
`
	opt := options()
	f, err := Parse(name, []byte(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for flag, value := range map[string]string{"delay": "500ms " + name + ":1", "exclude": `[a,b\d$] ` + name + ":2", "max-pages": "1000 " + name + ":3", "obey-nofollow": "true " + name + ":4", "similarity": word + " " + name + ":5 secret", "store": "data " + name + ":7"} {
		want[flag] = value
	}
	if got := given(opt.Flags["crawl"]); !maps.Equal(got, want) {
		t.Errorf("flags:\n%v\nwant\n%v", got, want)
	}
	if len(f.Hosts) != 2 {
		t.Fatalf("%d hosts", len(f.Hosts))
	}
	h := f.Hosts[0]
	if h.Pattern != "intranet.example.org" || *h.Delay != 2*time.Second || *h.Logout || h.Headers["X-Token"] != word || h.Headers["X-Price"] != "${5}" ||
		h.Basic.User != "me" || h.Basic.Password != "from file" || len(h.Cookies) != 1 || h.Proxies[0].URL().String() != "socks5://me:"+word+"@127.0.0.1:1080" {
		t.Errorf("the first host: %+v", h)
	}
	h = f.Hosts[1]
	if h.Login.Page != "https://www.example.com/login" || h.Login.Check != "Log out" || h.Login.Fields["password"] != word || h.Proxies == nil || len(h.Proxies) != 0 {
		t.Errorf("the second host: %+v", h)
	}

	// A copy in another folder must name the same files. It keeps no literal secrets.
	elsewhere := filepath.Join(t.TempDir(), "skink.toml")
	copied := []byte(strings.Replace(text, `, "X-Price" = "$${5}"`, "", 1))
	for range 2 {
		if copied, err = Copy(name, copied); err != nil {
			t.Fatal(err)
		}
		name = elsewhere
		if f, err = Parse(name, copied, options()); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.Hosts) != 2 || strings.Contains(string(copied), word) || !strings.HasPrefix(string(copied), "# Paths are relative to ") {
		t.Errorf("the copy:\n%s", copied)
	}
}

// A copy has no literal secrets, and a command that needs them says which are missing.
func TestCopySecrets(t *testing.T) {
	const written = `feed = "https://me:sesame-1@search.test/pages" # a comment with sesame-0
# password = "sesame-7"
[host."priv.test"]
headers = { "X-Token" = "sesame-2", "X-Other" = "Bearer ${TOKEN}", "Accept-Language" = "de" }
user = "me"
password = '''sesame-3''' # was sesame-8
proxy = ["http://me:sesame-4@proxy.test:1", "http://me:${TOKEN}@proxy.test:1", 
  "http://proxy.test:2", # not "http://me:sesame-9@proxy.test:1"
  "http://sesame-10@proxy.test:3"]
login = { page = "https://priv.test/login", fields = { user = "me", password = "sesame-5" } }
[host."other.test"]
login.fields.password = "$${sesame-6}"
login.page = "https://other.test/login"
`
	opt := options()
	_, err := Parse("skink.toml", []byte(written), opt)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Copy("skink.toml", []byte(written))
	if err != nil {
		t.Fatal(err)
	}
	copied := string(text)
	for _, kept := range []string{"Bearer ${TOKEN}", `'de'`, `user = 'me'`, `password = '***'`, "http://me:${TOKEN}@proxy.test:1", "http://proxy.test:2", "https://priv.test/login"} {
		if !strings.Contains(copied, kept) {
			t.Errorf("the copy lacks %s", kept)
		}
	}
	if strings.Contains(copied, "sesame") {
		t.Errorf("the copy:\n%s", copied)
	}
	_, err = Parse("copy.toml", []byte(copied), opt)
	if want := "copy.toml: a store keeps no secrets, so this copy lacks feed, host other.test login fields password, host priv.test password, host priv.test proxy, host priv.test headers X-Token, host priv.test login fields password: name the original file with --config FILE"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	opt.Command = "report"
	if _, err := Parse("copy.toml", []byte(copied), opt); err != nil {
		t.Errorf("a report needs no secrets: %v", err)
	}
}

// A variable in the user name or the password of a proxy may contain any characters.
func TestProxyPassword(t *testing.T) {
	opt := options()
	for _, password := range []string{"a@b/c", "x", "p%40 ?#:[", "me:1/x"} {
		t.Setenv("PW", password)
		f, err := Parse("skink.toml", []byte("[host.\"a\"]\nproxy = \"http://${PW}:${PW}@proxy.test:3128\""), opt)
		if err != nil {
			t.Fatal(err)
		}
		u := f.Hosts[0].Proxies[0].URL()
		if got, _ := u.User.Password(); got != password || u.User.Username() != password || u.Host != "proxy.test:3128" {
			t.Errorf("%s became %s", password, u)
		}
		_, err = Parse("skink.toml", []byte("[host.\"a\"]\nproxy = \"http://me:12/sesame@proxy.test:3128\""), opt)
		if err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("a slash in a password: %v", err)
		}
	}
}

// Each command reads its own section, and the shared flag above all sections.
func TestCommands(t *testing.T) {
	opt := options()
	opt.Command = "report"
	if _, err := Parse("skink.toml", []byte("delay = \"1s\"\nstore = \"data\"\n[report]\ntop = 5\n[view]\naddr=\"1\""), opt); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"store": "data skink.toml:2", "top": "5 skink.toml:4"}
	if got := given(opt.Flags["report"]); !maps.Equal(got, want) {
		t.Errorf("flags of a report: %v, want %v", got, want)
	}
	for text, want := range map[string]string{
		"report = 5":               "skink.toml:1: report is a command: put its flags in a section, [report]",
		"[report]\ntpo = 5":        `skink.toml:2: unknown key "tpo": try top`,
		"top = 5":                  `skink.toml:1: unknown key "top"`,
		"[report]\ndelay = \"1s\"": `skink.toml:2: unknown key "delay"`,
	} {
		if _, err := Parse("skink.toml", []byte(text), opt); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.txt"), []byte("# Cookies\nexample.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ text, want string }{
		{"delay = \"1s\"\ndelya = \"1s\"", `:2: unknown key "delya": try delay`},
		{"delay = 1s", ":1: "},
		{"delay = \"1s\"\ndelay = \"2s\"", ":2: "},
		{"\nexclude = { a = 1 }", ":2: exclude: must be a string"},
		{"[[exclude]]\n", ":1: exclude: must be a string"},
		{"exclude = [\"a\", [1]]", ":1: exclude: must be a string"},
		{"delay = [\"1s\"]", ":1: delay: takes one value, not an array"},
		{"help = true", `:1: unknown key "help"`},
		{"[report]\n[reprot]", `:2: unknown key "reprot"`},
		{"delay = 2020-01-01", ":1: delay: must be a string"},
		{"delay = \"${NO}\"", ":1: the environment variable NO is not set"},
		{"delay = \"${A-B}\"", ":1: this is not the name of a variable"},
		{"delay = \"${A\"", ":1: missing } after ${"},
		{"delay = \"${file:none}\"", ":1: read none: no such file"},
		{"host = 1", ":1: host: write a section"},
		{"host.a = 1", `:1: host "a": write a section with a name`},
		{"[[host]]\na = 1", ":1: host: write a section"},
		{"[host.\"http://a/\"]\n", `:1: host "http://a/": write a section with a name`},
		{"[host.a]\n\ndely = 1", `:3: unknown key "dely"`},
		{"[host.a]\ndelay = \"x\"", `:2: invalid argument "x"`},
		{"[host.a]\ndelay = \"${TOKEN}\"", ":2: delay: the value of the variable is not valid"},
		{"[host.a]\ndelay = [\"1s\"]", ":2: delay: takes one value, not an array"},
		{"[host.a]\nheaders = 1", ":2: headers: write a table, such as {"},
		{"[host.a.headers]\nA = 1", ":2: A: must be a string"},
		{"[host.a.headers]\nA = \"b\\nc\"", `:2: header "A": its name or value`},
		{"[host.a.headers]\nhost = \"b\"", ":2: header Host: the crawler sets this header itself"},
		{"[host.a.headers]\nuser-agent = \"b\"", ":2: header User-Agent: use the key user-agent or cookies instead"},
		{"[host.a]\nuser = \"a\"", ":2: user is set, but password is not"},
		{"[host.a]\npassword = \"a\"", ":2: password is set, but user is not"},
		{"[host.a]\nuser = \"a:b\"\npassword = \"a\"", ":2: user: the name is empty, or contains a colon"},
		{"[host.a]\nlogout = [true]", ":2: logout: takes one value"},
		{"[host.a.logout]\nno = 1", ":1: logout: must be a string"},
		{"[host.a]\nproxy = \"127.0.0.1\"", ":2: proxy: must be a URL"},
		{"[host.a]\nproxy = []", ":2: proxy: the list is empty"},
		{"[host.a]\nproxy = [\"direct\", \"direct\"]", ":2: proxy: must be a URL"},
		{"[host.a]\nlogin = 1", ":2: login: write a table"},
		{"[host.a.login]\npage = \"/login\"", ":1: login: page must be the URL"},
		{"[host.a.login]\npage = \"http://a/\"", ":1: login: the key \"fields\" is missing"},
		{"[host.a.login]\npages = \"http://a/\"", `:2: unknown key "pages": try page`},
		{"[host.a]\ncookies = \"none.txt\"", ":2: cookies: read none.txt: no such file"},
		{"[host.a]\ncookies = \"bad.txt\"", ":2: cookies: bad.txt, line 2 is no cookie"},
	} {
		_, err := Parse(filepath.Join(dir, "f"), []byte(test.text), options())
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(dir, "f")+test.want) {
			t.Errorf("%s\nerror %v\nwant  %s", test.text, err, test.want)
		}
	}
}

// TestChecked checks the sections of hosts for a command that does not need them. No variable may
// be read.
func TestChecked(t *testing.T) {
	opt := options()
	opt.Command = "report"
	if _, err := Parse("f", []byte("[host.a.headers]\nA = \"${NO}\""), opt); err != nil {
		t.Error(err)
	}
	if _, err := Parse("f", []byte("[host.a]\nheader = 1"), opt); err == nil {
		t.Error("an unknown key was accepted")
	}
}

func TestCookies(t *testing.T) {
	all, err := parseCookies("# Netscape HTTP Cookie File\r\n\r\n.Example.org\tTRUE\t/a\tFALSE\t1893456000\tid\tv=1;2\r\n#HttpOnly_www.example.org\tFALSE\t/\tTRUE\t0\tsession\t\nexample.org\tFALSE\t/\tfalse\t0.5\tempty\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []*http.Cookie{
		{Name: "id", Value: "v=1;2", Domain: ".example.org", Path: "/a", Expires: time.Unix(1893456000, 0)},
		{Name: "session", Domain: "www.example.org", Path: "/", Secure: true, HttpOnly: true},
		{Name: "empty", Domain: "example.org", Path: "/", Expires: time.Unix(0, 0)},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%v\nwant %v", all, want)
	}
	for _, line := range []string{
		"a b c", "example.org\tmaybe\t/\tTRUE\t0\ta\tb", "example.org\tTRUE\t/\tno\t0\ta\tb", "example.org\tTRUE\t/\tTRUE\tsoon\ta\tb",
		"example.org\tTRUE\t/\tTRUE\tNaN\ta\tb", "example.org\tTRUE\t/\tTRUE\t-1\ta\tb", ".\tTRUE\t/\tTRUE\t0\ta\tb",
		"example.org\tTRUE\ta\tTRUE\t0\ta\tb", "example.org\tTRUE\t/\tTRUE\t0\t\tb", "example.org\tTRUE\t/\tTRUE\t0\ta\tb\tc",
	} {
		if _, err := parseCookies("# a comment\n" + line); err == nil || !strings.HasPrefix(err.Error(), "line 2 is no cookie: it needs 7 fields") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// FuzzParse checks that Parse never panics, and that the value of a variable is neither in an error
// nor in the settings for printing.
func FuzzParse(f *testing.F) {
	f.Add("delay = \"1s\"\n[host.a]\nheaders = { a = \"${TOKEN}\" }")
	f.Add("[host.a.login]\npage = \"${TOKEN}\"\nfields = { a = \"${TOKEN}\" }")
	f.Add("[host.a]\nproxy = \"http://${TOKEN}@%zz\"\ndelay = \"${TOKEN}\"\nuser = \"${TOKEN}:\"\npassword = \"${TOKEN}\"")
	f.Add("host.\"a\".cookies = [\"${TOKEN}\", 1]\nexclude = [\"${TOKEN}\", 2.5, true]")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, word) || strings.Contains(text, "file:") {
			return
		}
		_, err := Parse("f", []byte(text), options())
		if err != nil && strings.Contains(err.Error(), word) {
			t.Errorf("the error contains the secret: %v", err)
		}
		if err != nil {
			return
		}
		copied, err := Copy("f", []byte(text))
		if err != nil || strings.Contains(string(copied), word) {
			t.Errorf("the copy contains the secret, or %v", err)
		}
	})
}
