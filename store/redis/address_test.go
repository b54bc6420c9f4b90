package redis

import (
	"slices"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Setenv(EnvUser, "")
	t.Setenv(EnvPassword, "of the environment")
	for _, tt := range []struct {
		text, want string
		servers    []string
		user, pass string
	}{
		{"redis://localhost/docs", "redis://localhost:6379/docs", []string{"localhost:6379"}, "", "of the environment"},
		{"redis://a:1,b:2,[::1]:3/d.o-c_s", "redis://a:1,b:2,[::1]:3/d.o-c_s", []string{"a:1", "b:2", "[::1]:3"}, "", "of the environment"},
		{"rediss://jo:p%40ss:word@a:1/x", "rediss://a:1/x", []string{"a:1"}, "jo", "p@ss:word"},
		{"redis://:p@ss@a:1/x", "redis://a:1/x", []string{"a:1"}, "", "p@ss"},
	} {
		a, err := ParseAddress(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if a.String() != tt.want || !slices.Equal(a.Servers, tt.servers) || a.user != tt.user || a.password != tt.pass {
			t.Errorf("%s is %s, servers %v, user %q, password %q", tt.text, a, a.Servers, a.user, a.password)
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, text := range []string{
		"skink-data", "http://a/x", "redis://", "redis:///x", "redis://a:1", "redis://a:1/", "redis://a:1/x/y", "redis://a:1/{x}", "redis://a:1,/x",
		"redis://jo:secret@a:1", "redis://jo:secret%@a:1/x", "redis://jo:secret@/x",
	} {
		_, err := ParseAddress(text)
		if err == nil {
			t.Errorf("%s is taken", text)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error of %s says the password: %v", text, err)
		}
	}
}
