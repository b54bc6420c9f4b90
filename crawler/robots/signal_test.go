package robots

import (
	"strings"
	"testing"
)

func TestSignals(t *testing.T) {
	for _, test := range []struct{ name, file, agent, want string }{
		{"none", "User-agent: *\nDisallow: /x\n", "skink", ""},
		{"in a group", "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", "skink/1.0", "ai-train=no, search=yes"},
		{"outside a group", "Content-Signal: ai-train=no\n\nUser-agent: *\nDisallow: /x\n", "skink", "ai-train=no"},
		{"after the rules", "User-agent: *\nDisallow: /x\ncontent-signal: AI-Input = No\n", "skink", "ai-input=no"},
		{"the group before the file", "Content-Signal: ai-train=no, search=no\nUser-agent: skink\nContent-Signal: ai-train=yes\n", "skink", "ai-train=yes, search=no"},
		{"another agent", "User-agent: other\nContent-Signal: ai-train=no\nAllow: /\n\nUser-agent: *\nContent-Signal: search=yes\n", "skink", "search=yes"},
		{"a contradiction", "User-agent: *\nContent-Signal: search=yes\nContent-Signal: search=no\nContent-Signal: search=yes\n", "skink", "search=no"},
		{"a contradiction of groups", "User-agent: *\nContent-Signal: search=no\n\nUser-agent: *\nContent-Signal: search=yes\n", "skink", "search=no"},
		{"nonsense", "Content-Signal: search, =no, a b=no, ai-train=maybe, x=yes;y=no, \x00=no, ai-input=no # why\n", "skink", "ai-input=no"},
		{"too many", "Content-Signal: " + manySignals(40) + "\n", "skink", strings.ReplaceAll(manySignals(16), ",", ", ")},
		{"a signal ends no group", "User-agent: a\nContent-Signal: search=no\nUser-agent: b\nDisallow: /\n", "b", "search=no"},
	} {
		if got := Parse([]byte(test.file)).Signals(test.agent); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// manySignals returns n different signals in alphabetical order.
func manySignals(n int) string {
	var all []string
	for i := range n {
		all = append(all, string([]byte{'a' + byte(i/10), '0' + byte(i%10)})+"=no")
	}
	return strings.Join(all, ",")
}

func TestIsSignal(t *testing.T) {
	for _, good := range []string{"ai-train=no", "search=yes", "ai_input2=no"} {
		if !IsSignal(good) {
			t.Errorf("%q is no signal", good)
		}
	}
	for _, bad := range []string{"", "thin", "ai-train", "ai-train=", "ai-train=maybe", "AI-train=no", "ai-train = no", "=no", "a=no, b=no"} {
		if IsSignal(bad) {
			t.Errorf("%q is a signal", bad)
		}
	}
}
