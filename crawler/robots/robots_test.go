package robots

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// statement is one statement about a file: an agent may or may not fetch some paths on example.com.
type statement struct {
	name  string // section of RFC 9309, and a description of the case
	file  string
	agent string
	allow []string
	deny  []string
}

// The example of section 5.1 in full.
const exampleFile = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`

// The example of section 2.2.1, in which two groups are read as one.
const mergedFile = `user-agent: ExampleBot
disallow: /foo
disallow: /bar

user-agent: ExampleBot
disallow: /baz

user-agent: *
disallow: /everyone
`

func TestAllowed(t *testing.T) {
	groups := []statement{
		{"2.1 a group ends where the next begins", "User-agent: a\nDisallow: /a\nUser-agent: b\nDisallow: /b\n", "a", []string{"/b"}, []string{"/a"}},
		{"2.1 several agents share their rules", "User-agent: a\nUser-agent: b\nDisallow: /x\n", "b", []string{"/y"}, []string{"/x"}},
		{"2.1 a group without rules allows all", "User-agent: a\n\nUser-agent: *\nDisallow: /\nUser-agent: b", "b", []string{"/x"}, nil},
		{"2.1 empty lines do not end a group", "User-agent: a\n\n\nUser-agent: b\n\nDisallow: /x\n\nDisallow: /y\n", "a", []string{"/z"}, []string{"/x", "/y"}},
		{"2.2 rules before any group have no agent", "Disallow: /x\nUser-agent: a\nDisallow: /y\n", "a", []string{"/x"}, []string{"/y"}},
		{"2.2 names of records in any case", "USER-AGENT: a\nDISALLOW: /x\naLLoW: /x/y\n", "a", []string{"/x/y"}, []string{"/x"}},
		{"2.2 blanks anywhere around names and values", " \tuser-agent\t : \t a \t\n  disallow  :  /x  \n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2 no blanks", "user-agent:a\ndisallow:/x\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2 CR ends a line", "user-agent: a\rdisallow: /x\rdisallow: /y", "a", []string{"/z"}, []string{"/x", "/y"}},
		{"2.2 CR LF is one line end", "user-agent: a\r\nuser-agent: b\r\ndisallow: /x\r\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2 no line end at the end", "user-agent: a\ndisallow: /x", "a", nil, []string{"/x"}},
		{"2.2 comments on lines and behind values", "# all\nuser-agent: a # that one\ndisallow: /x # y\n# disallow: /z\ndisallow: #nothing\n", "a", []string{"/y", "/z"}, []string{"/x"}},
		{"2.2 a comment needs no blank before it", "user-agent: a#b\ndisallow: /x#y\n", "a", []string{"/y"}, []string{"/x", "/xy"}},
		{"2.2 an empty pattern matches nothing", "user-agent: a\ndisallow:\n", "a", []string{"/", "/x"}, nil},
		{"2.2 not even as a rule among others", "user-agent: a\ndisallow: /x\nallow:\ndisallow:\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2 but it ends the user-agent lines", "user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /\n", "a", []string{"/x"}, nil},
		{"2.2 tabs are blanks", "user-agent:\ta\t\ndisallow:\t/x\t# y\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2 other blanks are not", "user-agent: a\n\u00a0disallow: /x\n", "a", []string{"/x"}, nil},
		{"2.2 CR and LF in any order", "user-agent: a\n\rdisallow: /x\r\r\ndisallow: /y", "a", []string{"/z"}, []string{"/x", "/y"}},
		{"2.2 a value may hold colons", "user-agent: a\ndisallow: /x:y:z\n", "a", []string{"/x"}, []string{"/x:y:z"}},
		{"2.2 nothing but comments", "# user-agent: *\n#disallow: /\n", "a", []string{"/x"}, nil},
		{"2.2 nothing at all", "", "a", []string{"/x"}, nil},
		{"2.2 a name alone is no record", "user-agent: a\ndisallow\n", "a", []string{"/x"}, nil},
		{"2.2 other names are other records", "user-agent: a\ndisallow: /x\nuser_agent: b\nagent: b\nno-allow: /z\ndisallow: /y\n", "a", []string{"/z"}, []string{"/x", "/y"}},
		{"2.3 a byte order mark elsewhere is", "user-agent: a\n\ufeffdisallow: /x\n", "a", []string{"/x"}, nil},
		{"2.3 a byte order mark is no part of the first line", "\ufeffuser-agent: a\ndisallow: /x\n", "a", []string{"/y"}, []string{"/x"}},

		{"2.2.1 tokens match in any case", "user-agent: FooBot\ndisallow: /\n", "fOObOT", nil, []string{"/x"}},
		{"2.2.1 but not as a part: longer", "user-agent: foo\ndisallow: /\n", "foobot", []string{"/x"}, nil},
		{"2.2.1 shorter", "user-agent: foobot\ndisallow: /\n", "foo", []string{"/x"}, nil},
		{"2.2.1 hyphen and underscore belong to the token", "user-agent: foo-bot\ndisallow: /\nuser-agent: foo_bot\nallow: /\n", "foo-bot", nil, []string{"/x"}},
		{"2.2.1 or later in the header", "user-agent: example\ndisallow: /\n", "skink/1.0 (+https://example.com)", []string{"/x"}, nil},
		{"2.2.1 the token of a header counts", "user-agent: skink\ndisallow: /\n", "skink/1.0 (+https://example.com)", nil, []string{"/x"}},
		{"2.2.1 also of one dressed as a browser", "user-agent: skink\ndisallow: /\nuser-agent: mozilla\nallow: /\n", "Mozilla/5.0 (compatible; skink/1.0; +https://example.com)", nil, []string{"/x"}},
		{"2.2.1 unless it names no product", "user-agent: mozilla\ndisallow: /\n", "Mozilla/5.0 (X11; Linux)", nil, []string{"/x"}},
		{"2.2.1 a version in the file is passed over", "user-agent: skink/2.0\ndisallow: /\n", "skink/1.0", nil, []string{"/x"}},
		{"2.2.1 words behind a token are passed over", "user-agent: skink and friends\ndisallow: /\n", "skink", nil, []string{"/x"}},
		{"2.2.1 a wildcard in a token is none", "user-agent: ski*\ndisallow: /\n", "skink", []string{"/x"}, nil},
		{"2.2.1 a token is no prefix of everyone", "user-agent: *\ndisallow: /x\nuser-agent: a\ndisallow: /y\n", "a", []string{"/x"}, []string{"/y"}},
		{"2.2.1 one agent twice in a group", "user-agent: a\nuser-agent: A\ndisallow: /x\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2.1 named beside everyone", "user-agent: *\nuser-agent: a\ndisallow: /x\nuser-agent: *\ndisallow: /y\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2.1 groups of one token, with others between", "user-agent: a\ndisallow: /x\nuser-agent: b\ndisallow: /y\nuser-agent: c\nuser-agent: a\ndisallow: /z\n", "a", []string{"/y"}, []string{"/x", "/z"}},
		{"2.2.1 an empty group among them allows nothing more", "user-agent: a\ndisallow: /x\nuser-agent: a\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2.1 digits are part of a token", "user-agent: skink2\ndisallow: /\n", "skink", []string{"/x"}, nil},
		{"2.2.1 groups of one token are one", mergedFile, "ExampleBot", []string{"/everyone", "/"}, []string{"/foo", "/bar", "/baz"}},
		{"2.2.1 no group: that of *", mergedFile, "OtherBot", []string{"/foo", "/baz"}, []string{"/everyone"}},
		{"2.2.1 groups of * are one too", "user-agent: *\ndisallow: /x\nuser-agent: a\nuser-agent: *\ndisallow: /y\n", "b", []string{"/z"}, []string{"/x", "/y"}},
		{"2.2.1 the longest match is sought in all of them", "user-agent: a\ndisallow: /x\nuser-agent: a\nallow: /x/y\n", "a", []string{"/x/y"}, []string{"/x", "/x/z"}},
		{"2.2.1 no group at all", "user-agent: a\ndisallow: /\n", "b", []string{"/x"}, nil},
		{"2.2.1 an agent without a token is everyone", "user-agent: *\ndisallow: /x\nuser-agent: \ndisallow: /y\n", "", []string{"/y"}, []string{"/x"}},
		{"2.2.1 what begins with * is not everyone", "user-agent: *bot\ndisallow: /\n", "bot", []string{"/x"}, nil},
		{"2.2.1 a group of nobody keeps its rules", "user-agent: a\ndisallow: /x\nuser-agent: !\ndisallow: /y\n", "a", []string{"/y"}, []string{"/x"}},
	}
	matching := []statement{
		{"2.2.2 from the first octet", "user-agent: *\ndisallow: /x\n", "a", []string{"/", "/y/x"}, []string{"/x", "/x/", "/xy", "/x?y"}},
		{"2.2.2 in the case written", "user-agent: *\ndisallow: /X\n", "a", []string{"/x"}, []string{"/X"}},
		{"2.2.2 the most octets win, whatever the order", "user-agent: *\nallow: /x/y\ndisallow: /x\nallow: /\ndisallow: /x/y/z\n", "a", []string{"/", "/x/y", "/x/y/a"}, []string{"/x", "/x/y/z"}},
		{"2.2.2 allow wins where equal", "user-agent: *\ndisallow: /x\nallow: /x\n", "a", []string{"/x"}, nil},
		{"2.2.2 also across groups", "user-agent: *\nallow: /x\nuser-agent: *\ndisallow: /x\n", "a", []string{"/x"}, nil},
		{"2.2.2 no match is allowed", "user-agent: *\nallow: /x\n", "a", []string{"/y"}, nil},
		{"2.2.2 /robots.txt is always allowed", "user-agent: *\ndisallow: /\ndisallow: /robots.txt\n", "a", []string{"/robots.txt"}, []string{"/robots.txt.gz", "/a/robots.txt"}},
		{"2.2.2 the query is matched as it stands", "user-agent: *\ndisallow: /x?b=1&a=2\n", "a", []string{"/x?a=2&b=1", "/x?"}, []string{"/x?b=1&a=2&c"}},
		{"2.2.2 a fragment never is", "user-agent: *\ndisallow: /*y\n", "a", []string{"/x#y"}, nil},
		{"2.2.2 table, row 1", "user-agent: *\ndisallow: /foo/bar?baz=quz\n", "a", []string{"/foo/bar"}, []string{"/foo/bar?baz=quz"}},
		{"2.2.2 table, row 2", "user-agent: *\ndisallow: /foo/bar?baz=http://foo.bar\n", "a", []string{"/foo/bar?baz=http:"}, []string{"/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar"}},
		{"2.2.2 and the other way", "user-agent: *\ndisallow: /foo/bar?baz=http%3a%2F%2ffoo.bar\n", "a", []string{"/foo/bar?baz=http:"}, []string{"/foo/bar?baz=http%3A%2F%2Ffoo.bar", "/foo/bar?baz=http://foo.bar"}},
		{"2.2.2 table, row 3", "user-agent: *\ndisallow: /foo/bar/ツ\n", "a", []string{"/foo/bar/%E3%83%85"}, []string{"/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"}},
		{"2.2.2 table, row 4", "user-agent: *\ndisallow: /foo/bar/%e3%83%84\n", "a", nil, []string{"/foo/bar/ツ", "/foo/bar/%E3%83%84"}},
		{"2.2.2 table, row 5", "user-agent: *\ndisallow: /foo/bar/%62%61%7A\n", "a", nil, []string{"/foo/bar/baz", "/foo/bar/%62az"}},
		{"2.2.2 the other way, an escape in the URL", "user-agent: *\ndisallow: /foo/bar/baz\ndisallow: /~joe\n", "a", nil, []string{"/foo/bar/%62%61%7A", "/foo/b%61r/baz", "/%7Ejoe", "/%7ejoe/x"}},
		{"2.2.2 rules given twice count once", "user-agent: *\ndisallow: /x\ndisallow: /x\nallow: /x\n", "a", []string{"/x"}, nil},
		{"2.2.2 octets that are no UTF-8", "user-agent: *\ndisallow: /caf\xe9\n", "a", []string{"/caf", "/caf%C3%A9"}, []string{"/caf%E9", "/caf%e9s", "/caf\xe9"}},
		{"2.2.2 control characters", "user-agent: *\ndisallow: /a\x00b\ndisallow: /c\x0bd\n", "a", []string{"/ab"}, []string{"/a%00b", "/c%0Bd", "/c%0bd"}},
		{"2.2.2 dot segments are octets like others", "user-agent: *\ndisallow: /a/../b\n", "a", []string{"/b"}, []string{"/a/../b"}},
		{"2.2.2 so are double slashes", "user-agent: *\ndisallow: //x\n", "a", []string{"/x"}, []string{"//x"}},
		{"2.2.2 an empty query is one octet", "user-agent: *\ndisallow: /x?\n", "a", []string{"/x", "/xy?"}, []string{"/x?", "/x?y"}},
		{"2.2.2 length is counted in the common form", "user-agent: *\nallow: /%61%62%63\ndisallow: /abcd\n", "a", []string{"/abc"}, []string{"/abcd"}},
		{"2.2.2 where é is six octets", "user-agent: *\nallow: /é\ndisallow: /*abcd\ndisallow: /*bcdefg\n", "a", []string{"/éabcd"}, []string{"/éabcdefg"}},
		{"2.2.2 a plus is no space", "user-agent: *\ndisallow: /a+b\n", "a", []string{"/a%20b", "/a%2Bb"}, []string{"/a+b"}},
		{"2.2.2 an escaped slash is no slash", "user-agent: *\ndisallow: /x%2Fy\ndisallow: /z/y\n", "a", []string{"/x/y", "/z%2Fy"}, []string{"/x%2fy", "/z/y"}},
		{"2.2.2 nor other reserved characters what they escape", "user-agent: *\ndisallow: /x%3By\ndisallow: /z?a=b%26c\n", "a", []string{"/x;y", "/z?a=b&c"}, []string{"/x%3by", "/z?a=b%26c"}},
		{"2.2.2 an escaped question mark begins no query", "user-agent: *\ndisallow: /x%3F\n", "a", []string{"/x?"}, []string{"/x%3fy"}},
		{"2.2.2 octets that no URL may contain", "user-agent: *\ndisallow: /a b\ndisallow: /\"\ndisallow: /|\n", "a", nil, []string{"/a%20b", "/%22", "/|", "/%7C"}},
		{"2.2.2 an escape of an escape", "user-agent: *\ndisallow: /%2541\n", "a", []string{"/A", "/%41"}, []string{"/%2541"}},
		{"2.2.2 a lone per cent sign is its escape", "user-agent: *\ndisallow: /100%\n", "a", []string{"/100"}, []string{"/100%", "/100%25"}},

		{"2.2.3 $ ends the match", "user-agent: *\nallow: /this/path/exactly$\ndisallow: /\n", "a", []string{"/this/path/exactly"}, []string{"/this/path/exactly/", "/this/path/exactly?"}},
		{"2.2.3 * is any octets or none", "user-agent: *\ndisallow: /this/*/exactly\n", "a", []string{"/this/exactly"}, []string{"/this//exactly", "/this/path/exactly", "/this/a/b/exactly/c"}},
		{"2.2.3 also of the query", "user-agent: *\ndisallow: /*?*print=\n", "a", []string{"/print="}, []string{"/x?print=1", "/x?a&print="}},
		{"2.2.3 # starts a comment", "user-agent: *\nallow: / # comment in line\n# comment on its own line\n", "a", []string{"/x"}, nil},
		{"2.2.3 special characters as letters, *", "user-agent: *\ndisallow: /path/file-with-a-%2A.html\n", "a", []string{"/path/file-with-a-b.html"}, []string{"/path/file-with-a-*.html", "/path/file-with-a-%2a.html"}},
		{"2.2.3 special characters as letters, $", "user-agent: *\ndisallow: /path/foo-%24\n", "a", []string{"/path/foo-"}, []string{"/path/foo-$", "/path/foo-$bar", "/path/foo-%24"}},
		{"2.2.3 $ elsewhere is a letter", "user-agent: *\ndisallow: /a$b\n", "a", []string{"/a"}, []string{"/a$b", "/a$bc"}},
		{"2.2.3 the last of two is not", "user-agent: *\ndisallow: /a$$\n", "a", []string{"/a", "/a$b"}, []string{"/a$"}},
		{"2.2.3 * at the end changes nothing", "user-agent: *\ndisallow: /x*\n", "a", []string{"/y"}, []string{"/x", "/xy"}},
		{"2.2.3 nor do many", "user-agent: *\ndisallow: /x***y**$\n", "a", []string{"/x"}, []string{"/xy", "/x/y/z"}},
		{"2.2.3 * before $ needs a second look", "user-agent: *\ndisallow: /*.gif$\n", "a", []string{"/a.gif.png", "/a.gif?"}, []string{"/a.gif", "/a.gif.gif"}},
		{"2.2.3 pieces do not overlap", "user-agent: *\ndisallow: /ab*ba$\n", "a", []string{"/aba"}, []string{"/abba", "/ab/ba"}},
		{"2.2.3 wildcards count as octets", "user-agent: *\nallow: /page\ndisallow: /*.html\n", "a", []string{"/page", "/pages/x"}, []string{"/page.html", "/x.html"}},
		{"2.2.3 everything", "user-agent: *\ndisallow: *\n", "a", []string{"/robots.txt"}, []string{"/", "/x", "/?x"}},
		{"2.2.3 nothing but an end", "user-agent: *\ndisallow: $\n", "a", []string{"/", "/x"}, nil},
		{"2.2.3 $ and a comment", "user-agent: *\ndisallow: /x$ # exactly\n", "a", []string{"/xy"}, []string{"/x"}},
		{"2.2.3 $ in a query", "user-agent: *\ndisallow: /x?y$\n", "a", []string{"/x?yz", "/x"}, []string{"/x?y"}},
		{"2.2.3 * across slashes and into the query", "user-agent: *\ndisallow: /a*z\n", "a", []string{"/b/z"}, []string{"/a/b/z", "/a?z"}},
		{"2.2.3 an escaped # is a letter", "user-agent: *\ndisallow: /a%23b\n", "a", []string{"/a"}, []string{"/a%23b"}},
		{"2.2.3 only the root", "user-agent: *\nallow: /$\ndisallow: /\n", "a", []string{"/"}, []string{"/x", "/?"}},
		{"2.2.3 a pattern without / or * in front matches nothing", "user-agent: *\ndisallow: x\ndisallow: http://example.com/y\n", "a", []string{"/x", "/y"}, nil},

		{"2.2.4 other records do not end a group", "user-agent: a\nsitemap: https://example.com/s.xml\nuser-agent: b\ndisallow: /x\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2.4 nor its rules", "user-agent: a\ndisallow: /x\nsitemap: /s.xml\nhost: example.com\ndisallow: /y\n", "a", []string{"/z"}, []string{"/x", "/y"}},
		{"2.2.4 crawl-delay is one of them", "user-agent: a\ncrawl-delay: 5\nuser-agent: b\ndisallow: /x\n", "a", []string{"/y"}, []string{"/x"}},
		{"2.2.4 a record between agents ends none of them", "user-agent: a\nhost: example.com\nclean-param: ref /x\nuser-agent: b\nrequest-rate: 1/5\ndisallow: /x\n", "b", []string{"/y"}, []string{"/x"}},
		{"2.2.4 noindex is no rule of this protocol", "user-agent: a\nnoindex: /x\n", "a", []string{"/x"}, nil},
		{"2.3.1.5 a file of noise", "\x00\x01\x02\xff\xfe\n\x80: \x81\n", "a", []string{"/x"}, nil},
		{"2.3.1.5 lines that cannot be read are passed over", "<html>\nuser-agent a\nuser-agent: a\nnonsense\n: /z\ndeny /y\n\x00\xff: \xff\ndisallow: /x\n", "a", []string{"/y", "/z"}, []string{"/x"}},
	}
	examples := []statement{
		{"5.1 everyone", exampleFile, "anybot", []string{"/", "/publications/", "/a.gif?x"}, []string{"/a.gif", "/example/", "/example/page.html"}},
		{"5.1 an Allow longer than the Disallow that matches too", exampleFile, "anybot", []string{"/publications/a.gif"}, nil},
		{"5.1 foobot", exampleFile, "foobot", []string{"/example/page.html", "/example/allowed.gif"}, []string{"/", "/a.gif", "/publications/", "/example/"}},
		{"5.1 barbot", exampleFile, "barbot", []string{"/", "/a.gif", "/example/"}, []string{"/example/page.html"}},
		{"5.1 bazbot", exampleFile, "bazbot", []string{"/", "/a.gif", "/example/"}, []string{"/example/page.html"}},
		{"5.1 quxbot", exampleFile, "quxbot", []string{"/", "/a.gif", "/example/page.html"}, nil},
		{"5.2 longest match", "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n", "foobot", []string{"/example/page/", "/example/page/a.gif"}, []string{"/example/page/disallowed.gif"}},
	}
	for _, tt := range slices.Concat(groups, matching, examples) {
		t.Run(tt.name, func(t *testing.T) {
			rules := Parse([]byte(tt.file))
			for _, path := range tt.allow {
				if !rules.Allowed(tt.agent, "https://example.com"+path) {
					t.Errorf("%q may not fetch %s, want may, by\n%s", tt.agent, path, tt.file)
				}
			}
			for _, path := range tt.deny {
				if rules.Allowed(tt.agent, "https://example.com"+path) {
					t.Errorf("%q may fetch %s, want may not, by\n%s", tt.agent, path, tt.file)
				}
			}
		})
	}
}

// TestMistyped parses common mistakes that Google's parser also accepts
// (github.com/google/robotstxt): misspellings of user-agent and disallow (robots.cc), and missing
// colons between two words (robots_test.cc). Each line replaces a line of a well-formed file.
func TestMistyped(t *testing.T) {
	tests := []struct {
		line   string
		agent  bool // the line has the meaning of "User-agent: skink"
		forbid bool // the line has the meaning of "Disallow: /"; if agent and forbid are false, the line is ignored
	}{
		{line: "user-agent skink", agent: true},
		{line: "User-Agent\tskink", agent: true},
		{line: "  user-agent   skink  # us", agent: true},
		{line: "useragent: skink", agent: true},
		{line: "useragent skink", agent: true},
		{line: "user agent: skink", agent: true},
		{line: "User Agent : skink", agent: true},
		{line: "user-agents: skink", agent: true},

		{line: "disallow /", forbid: true},
		{line: "Disallow\t/", forbid: true},
		{line: " \tdisallow  \t /  ", forbid: true},
		{line: "disallow : /", forbid: true},
		{line: "disallow :/", forbid: true},
		{line: "dissallow: /", forbid: true},
		{line: "dissalow: /", forbid: true},
		{line: "disalow: /", forbid: true},
		{line: "diasllow: /", forbid: true},
		{line: "disallaw: /", forbid: true},
		{line: "Disallowed: /", forbid: true},
		{line: "disalow /", forbid: true},
		{line: "disallow /*:*\ndisallow: /x", forbid: true},

		{line: "disallow this site"},    // three words without a colon are prose
		{line: "disallowed /"},          // if there is no colon, the name must be exact
		{line: "do not disallow: /"},    // the name must begin the line
		{line: "disallow for a: /"},     // more words before the colon than the name
		{line: "deny: /"},               // the rule has an unknown name
		{line: "\u00a0disallow /"},      // a no-break space is not a blank
		{line: "disallow\u00a0/"},       // a no-break space after the name is not a blank either
		{line: "user agent skink\n#"},   // three words without a colon are not a record
		{line: "disallow"},              // an empty rule forbids nothing
		{line: "disallow\ndisallow /y"}, // the second rule is for another path
	}
	for _, tt := range tests {
		file := "User-agent: *\n" + tt.line + "\n"
		if tt.agent {
			file = "User-agent: *\nDisallow:\n\n" + tt.line + "\nDisallow: /\n"
		}
		rules := Parse([]byte(file))
		if got, want := rules.Allowed("skink", "https://example.com/x:1"), !tt.agent && !tt.forbid; got != want {
			t.Errorf("%q: allowed %v, want %v", tt.line, got, want)
		}
		if tt.agent && !rules.Allowed("another", "https://example.com/x") {
			t.Errorf("%q: the rule is for everyone", tt.line)
		}
	}
	// A mistyped Allow allows nothing.
	for _, line := range []string{"allow /", "alow: /", "allowed: /", "allow/", "al low: /"} {
		if Parse([]byte("user-agent: *\ndisallow: /\n"+line)).Allowed("skink", "https://example.com/") {
			t.Errorf("%q opens what is forbidden", line)
		}
	}
	for _, line := range []string{"crawl-delay 7", "crawldelay: 7", "Crawl delay: 7", "crawl-delay :7", "crawldelay 7"} {
		if got := Parse([]byte("user-agent: *\n" + line)).CrawlDelay("skink"); got != 7*time.Second {
			t.Errorf("%q: %v, want 7s", line, got)
		}
	}
	for _, line := range []string{"sitemap https://example.com/s.xml", "site-map: https://example.com/s.xml", "Sitemaps: https://example.com/s.xml"} {
		if got := Parse([]byte(line)).Sitemaps(); !slices.Equal(got, []string{"https://example.com/s.xml"}) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// The path and query of a URL are compared with rules as they are, without resolving dots.
func TestTarget(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://example.com", "/"},
		{"https://example.com/", "/"},
		{"https://example.com?x", "/?x"},
		{"https://example.com/a/../b//c/?#d", "/a/../b//c/?"},
		{"https://example.com:8080/a?u=http://example.org/", "/a?u=http://example.org/"},
		{"/a?u=http://example.org/", "/a?u=http://example.org/"},
		{"", "/"},
	}
	for _, tt := range tests {
		if got := newTarget(tt.url).octets; got != tt.want {
			t.Errorf("target of %q = %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		name, file, agent string
		want              time.Duration
	}{
		{"none", "user-agent: *\n", "a", 0},
		{"seconds", "user-agent: *\ncrawl-delay: 5\n", "a", 5 * time.Second},
		{"parts of one", "user-agent: *\nCrawl-Delay: 0.25 # s\n", "a", 250 * time.Millisecond},
		{"before or after rules", "user-agent: *\ndisallow: /x\ncrawl-delay: 5\n", "a", 5 * time.Second},
		{"for all agents of a group", "user-agent: a\nuser-agent: b\ncrawl-delay: 5\n", "b", 5 * time.Second},
		{"the longest of several", "user-agent: a\ncrawl-delay: 3\nuser-agent: *\ndisallow:\nuser-agent: a\ncrawl-delay: 5\ncrawl-delay: 4\n", "a", 5 * time.Second},
		{"that of everyone is not for those who are named", "user-agent: *\ncrawl-delay: 5\nuser-agent: a\ndisallow:\nuser-agent: b\ndisallow:\n", "b", 0},
		{"outside a group", "crawl-delay: 5\nuser-agent: *\n", "a", 0},
		{"negative", "user-agent: *\ncrawl-delay: -5\n", "a", 0},
		{"no number", "user-agent: *\ncrawl-delay: NaN\ncrawl-delay: 5s\ncrawl-delay:\n", "a", 0},
		{"too large", "user-agent: *\ncrawl-delay: 1e300\n", "a", maxDelay},
		{"endless", "user-agent: *\ncrawl-delay: inf\n", "a", maxDelay},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Parse([]byte(tt.file)).CrawlDelay(tt.agent); got != tt.want {
				t.Errorf("crawl delay of %q = %v, want %v, by\n%s", tt.agent, got, tt.want, tt.file)
			}
		})
	}
}

func TestSitemaps(t *testing.T) {
	rules := Parse([]byte("Sitemap: https://example.com/1.xml\nuser-agent: a\nSITEMAP:/2.xml.gz\ndisallow: /\nsitemap: https://example.com/3?a=b # all\nsitemap:\n"))
	want := []string{"https://example.com/1.xml", "/2.xml.gz", "https://example.com/3?a=b"}
	if got := rules.Sitemaps(); !slices.Equal(got, want) {
		t.Errorf("sitemaps %q, want %q", got, want)
	}
}

// At least 500 KiB of a file are read (RFC 9309, section 2.5). A line that is cut there is not a
// rule, because only "/" could be left of "/private/x".
func TestLimit(t *testing.T) {
	const head = "user-agent: *\n"
	const last = "disallow: /last"
	pad := func(n int) string { return strings.Repeat("#\n", n/2) + strings.Repeat("\n", n%2) }
	tests := []struct {
		name string
		file string
		want bool // whether /last is allowed
	}{
		{"just inside", head + pad(MaxBytes-len(head)-len(last)) + last, false},
		{"inside, the line end outside", head + pad(MaxBytes-len(head)-len(last)) + last + "\nallow: /last\n", false},
		{"cut", head + pad(MaxBytes-len(head)-len(last)+1) + last + "\n", true},
		{"cut to another rule", head + pad(MaxBytes-len(head)-len(last)) + last + "/private\n", true},
		{"after the limit", head + pad(MaxBytes) + last, true},
		{"one line and nothing else", strings.Repeat("x", 2*MaxBytes), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Parse([]byte(tt.file)).Allowed("a", "https://example.com/last"); got != tt.want {
				t.Errorf("allowed %v, want %v", got, tt.want)
			}
		})
	}
}

// TestHostileIsBounded parses and queries files of MaxBytes that are meant to be slow. Each takes
// less than half a second; the time limit of the test is for busy machines. With an algorithm that
// reads all rules again for each agent, it would take a minute, and with backtracking it would
// never end.
func TestHostileIsBounded(t *testing.T) {
	fill := func(line string) string { return strings.Repeat(line, MaxBytes/len(line)) }
	url := "https://example.com/" + strings.Repeat("a", 8000)
	for name, file := range map[string]string{
		"wildcards in one rule": "user-agent: *\ndisallow: /" + fill("*a") + "$",
		"wildcards in each":     "user-agent: *\n" + fill("disallow: /*a*a*b\n"),
		"one agent, each again": fill("user-agent: a\ndisallow: /x\n"),
		"agents, then rules":    fill("user-agent: a\n")[:MaxBytes/2] + "\n" + fill("disallow: /*b$\n")[:MaxBytes/2],
		"rules all alike":       "user-agent: *\n" + fill("allow: /a\n"),
	} {
		start := time.Now()
		Parse([]byte(file)).Allowed("a", url)
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// Matching without backtracking gives the same result as a search through all possibilities.
func TestPatternProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`/[ab*]{0,8}\$?`).Draw(t, "pattern")
		path := rapid.StringMatching(`/[ab]{0,8}`).Draw(t, "path")
		p := newPattern(normalPattern(pattern))
		if got, want := p.matches(path), matchesByTrying(pattern, path); got != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, path, got, want)
		}
	})
}

func matchesByTrying(pattern, path string) bool {
	switch {
	case pattern == "":
		return true
	case pattern == "$":
		return path == ""
	case pattern[0] == '*':
		return matchesByTrying(pattern[1:], path) || path != "" && matchesByTrying(pattern, path[1:])
	}
	return path != "" && path[0] == pattern[0] && matchesByTrying(pattern[1:], path[1:])
}

// A file in UTF-16 is read with or without a byte order mark, in both byte orders. A line that is
// cut at MaxBytes is ignored.
func TestUTF16(t *testing.T) {
	const file = "user-agent: a\r\ndisallow: /é # ツ\nsitemap: http://a.example/s.xml"
	long := "user-agent: a\n#" + strings.Repeat("x", MaxBytes/2-len("user-agent: a\n#\nallow: /\ndis")) + "\nallow: /\ndisallow: /"
	for _, mark := range []string{"\ufeff", ""} {
		for name, add := range map[string]func([]byte, uint16) []byte{"little": binary.LittleEndian.AppendUint16, "big": binary.BigEndian.AppendUint16} {
			encode := func(text string) (body []byte) {
				for _, u := range utf16.Encode([]rune(mark + text)) {
					body = add(body, u)
				}
				return body
			}
			r := Parse(encode(file))
			if r.Allowed("a", "http://a.example/é") || !r.Allowed("a", "http://a.example/e") || !slices.Equal(r.Sitemaps(), []string{"http://a.example/s.xml"}) {
				t.Errorf("%s endian, mark %q: not read as it is meant", name, mark)
			}
			if r := Parse(encode(long)); r.Size() != 1 {
				t.Errorf("%s endian, mark %q: %d rules of a file that is cut in the second", name, mark, r.Size())
			}
		}
	}
}

func Fuzz(f *testing.F) {
	f.Add(exampleFile, "foobot", "/example/page.html")
	f.Add(mergedFile, "ExampleBot/1.0", "/foo?bar#baz")
	f.Add("user-agent: *\ndisallow: /%2*%zz$$\ncrawl-delay: 1e9\n", "Mozilla/5.0 (compatible;", "/%2%25%")
	f.Add("\ufeffUser-agent:*\rDisallow:*\r\n", "", "http://a?b")
	f.Fuzz(func(t *testing.T, file, agent, path string) {
		rules := Parse([]byte(file))
		allowed := rules.Allowed(agent, path)
		if again := Parse([]byte(file)).Allowed(agent, path); again != allowed {
			t.Errorf("allowed %v, then %v", allowed, again)
		}
		if d := rules.CrawlDelay(agent); d < 0 || d > maxDelay {
			t.Errorf("crawl delay %v", d)
		}
		if !rules.Allowed(agent, "https://example.com/robots.txt") {
			t.Error("/robots.txt is not allowed")
		}
		// Rules for other agents and other kinds of records change nothing.
		more := file + "\ndisallow:\nsitemap: /s.xml\nuser-agent: zz-other\ndisallow: /\nallow: /x\ncrawl-delay: 9\n"
		if len(more) <= MaxBytes && ProductToken(agent) != "zz-other" {
			if got := Parse([]byte(more)).Allowed(agent, path); got != allowed {
				t.Errorf("allowed %v, with a group for another agent %v", allowed, got)
			}
		}
		// A rule matches the URL from which it was made.
		clean := strings.NewReplacer("\r", "", "\n", "", "#", "", "*", "").Replace(path)
		if target := strings.Trim(clean, " \t"); strings.HasPrefix(target, "/") && target != "/robots.txt" && !strings.HasSuffix(target, "$") {
			own := Parse([]byte("user-agent: *\ndisallow: " + target))
			if own.Allowed("a", "https://example.com"+target) {
				t.Errorf("disallow: %q does not match itself", target)
			}
		}
	})
}

func Benchmark(b *testing.B) {
	var file strings.Builder
	file.WriteString("user-agent: *\n")
	for i := range 100 {
		fmt.Fprintf(&file, "disallow: /section-%d/\ndisallow: /*?sort-%d=\n", i, i)
	}
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(file.Len()))
		b.ReportAllocs()
		for b.Loop() {
			Parse([]byte(file.String()))
		}
	})
	rules := Parse([]byte(file.String()))
	b.Run("allowed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules.Allowed("skink/1.0", "https://example.com/library/text/shingles.html?lang=en")
		}
	})
}
