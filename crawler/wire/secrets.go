package wire

import (
	"bytes"
	"context"
	"slices"
	"strings"
)

type secretHeaders struct{}

// WithSecrets returns a context for a request with secret headers. Raw contains *** instead of
// their values.
func WithSecrets(ctx context.Context, names ...string) context.Context {
	known, _ := ctx.Value(secretHeaders{}).([]string)
	return context.WithValue(ctx, secretHeaders{}, slices.Concat(known, names))
}

// withoutSecrets returns a head with *** in place of the values of the secret headers in ctx.
func withoutSecrets(ctx context.Context, head []byte) []byte {
	names, _ := ctx.Value(secretHeaders{}).([]string)
	if len(names) == 0 {
		return head
	}
	lines := bytes.Split(head, []byte("\r\n"))
	for i, line := range lines {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if ok && i > 0 && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, string(name)) }) {
			lines[i] = append(bytes.Clone(name), ": ***"...)
		}
	}
	return bytes.Join(lines, []byte("\r\n"))
}
