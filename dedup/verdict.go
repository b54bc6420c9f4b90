package dedup

// A Kind is what was decided about a page.
type Kind string

const (
	Unique Kind = "unique" // like no leader: it leads
	Exact  Kind = "exact"  // the canonical text of its leader
	Near   Kind = "near"   // resembles its leader at least as much as was asked for
	Thin   Kind = "thin"   // too short to compare, unless it is a copy
)

// A Method is how a leader was found.
type Method string

const (
	ByText  Method = "text"  // equal canonical text
	ByBands Method = "bands" // an equal band of minima
	BySuper Method = "super" // two equal super-shingles of six
	ByMega  Method = "mega"  // an equal mega-shingle of fifteen
	ByPairs Method = "pairs" // the search over all pages, after the crawl
)
