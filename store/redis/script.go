package redis

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"strings"
)

// Scripts are in lua, a step of the contract each, and each begins with base.lua. A script
// declares all keys that it touches, in one hash tag: so it is atomic in a cluster, and
// servers that lock by key need not lock all.

//go:embed lua/*.lua
var luaFiles embed.FS

// A script is known to servers by the hash of its text.
type script struct{ text, sha string }

// allScripts are loaded into a server that does not know one of them.
var allScripts []*script

// newScript reads the script of some files: before the last stand base.lua and those that it shares
// with others.
func newScript(names ...string) *script {
	var text strings.Builder
	for _, file := range append([]string{"base.lua"}, names...) {
		part, err := luaFiles.ReadFile("lua/" + file)
		if err != nil {
			panic(err) // only a name can be wrong
		}
		text.Write(part)
	}
	sum := sha1.Sum([]byte(text.String()))
	s := &script{text.String(), hex.EncodeToString(sum[:])}
	allScripts = append(allScripts, s)
	return s
}

// A call is one run of a script.
type call struct {
	script *script
	keys   []string
	args   []string
}
