package crawler

// For the tests of hostile servers, which stand outside to use the whole pipeline.
var (
	Encode       = encode
	ResolverOf   = resolverOf
	MostRedirect = MaxHops
)
