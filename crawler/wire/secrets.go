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

// withoutSecrets returns a head with *** in place of the values of the secret headers in ctx. It
// removes Proxy-Authorization, which belongs to the connection to a proxy, and not to the request.
func withoutSecrets(ctx context.Context, head []byte) []byte {
	names, _ := ctx.Value(secretHeaders{}).([]string)
	var out []byte
	hidden := false // whether the last field was a secret, whose value may continue on the next line
	for i, line := range bytes.SplitAfter(head, []byte("\n")) {
		name, _, field := bytes.Cut(line, []byte(":"))
		isNamed := func(n string) bool { return strings.EqualFold(n, string(bytes.TrimSpace(name))) }
		continued := bytes.HasPrefix(line, []byte(" ")) || bytes.HasPrefix(line, []byte("\t"))
		switch {
		case hidden && continued:
		case i > 0 && field && isNamed("Proxy-Authorization"):
			hidden = true
		case i > 0 && field && slices.ContainsFunc(names, isNamed):
			hidden = true
			out = append(out, name...)
			out = append(out, ": ***"...)
			out = append(out, line[len(bytes.TrimRight(line, "\r\n")):]...)
		default:
			hidden = false
			out = append(out, line...)
		}
	}
	return out
}
