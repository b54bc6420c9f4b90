package redis

import (
	"fmt"
	"testing"
)

// A script that a server does not know is given to it, in the middle of many.
func TestScriptsComeBack(t *testing.T) {
	onEach(t, func(t *testing.T, servers string) {
		s := openNew(t, servers)
		add := newScript()
		var calls []call
		for p := range partition(100) {
			calls = append(calls, call{add, []string{s.key(p, "n")}, nil})
		}
		for _, node := range s.Nodes() {
			if err := node.Do(t.Context(), node.B().ScriptFlush().Build()).Error(); err != nil && !isReadOnly(err) {
				t.Fatal(err)
			}
		}
		if err := firstError(s.eval(t.Context(), calls...)); err != nil {
			t.Error(err)
		}
	})
}

func isReadOnly(err error) bool { return fmt.Sprint(err) != "" && err.Error()[:8] == "READONLY" }
