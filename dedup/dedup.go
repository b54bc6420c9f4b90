// Package dedup decides whether texts are duplicates or near-duplicates of each other. It is pure:
// it uses no network, disk, clock or log.
//
// To judge each text against those before it:
//
//	rule, err := dedup.NewRule(dedup.DefaultSimilarity, "bands", dedup.DefaultMinWords)
//	...
//	index := dedup.NewIndex(rule)
//	for _, page := range pages {
//		v := index.Add(page.Name, page.Text)
//		fmt.Println(page.Name, v.Kind, v.DuplicateOf, v.Resemblance) // "2.txt near 1.txt 0.93"
//	}
//
// To compare two texts:
//
//	var a, b dedup.Text
//	a.Read(left)
//	b.Read(right)
//	r := dedup.Resemblance(a.Set(10), b.Set(10))
//
// A text becomes a sequence of tokens ([Text]), and the sequence becomes a set of shingles ([Set]).
// The set becomes a sketch of 84 minima ([Sketch]), and the sketch becomes a few keys
// ([Scheme.Keys]). Pages that resemble each other are likely to share a key, so an index by key
// finds candidates. The exact resemblance to each candidate then decides ([Rule.Judge]). The sketch
// only selects the pages to compare. A rule with [Rule.Contained] finds excerpts. Its keys are
// sampled runs of words ([Rule.Keys]), and exact containment decides ([Rule.Contains]).
//
// The method is Broder's ("On the resemblance and containment of documents", 1997; Broder,
// Glassman, Manasse and Zweig, "Syntactic clustering of the Web", 1997). Super- and mega-shingles
// follow Fetterly, Manasse and Najork (2003). The parameters are those that Zelenkov and Segalovich
// compared for Russian pages (2007): 84 functions, six super-shingles of 14, fifteen mega-shingles
// of two.
//
// A crawl needs only these functions. The package also has:
//
//   - all measures from the literature ([Compare]);
//   - the passages that two texts share ([Passages]);
//   - the search for the form, shingle and threshold that fit labeled pairs ([Tune]).
//
// The package does not judge meaning. A translation, a summary or a thorough rewrite shares no
// shingles with its source, so it is unique.
package dedup

// These are the versions of the code that computes tokens and sketches. A store records them.
// Increase a version with every change that affects the tokens or the sketch of any text. A store
// with different versions is refused, because its sketches cannot be compared with new ones.
const (
	TokenizerVersion = 1
	SketchVersion    = 2 // version 1 hashed every token with xxh3; version 2 uses splitmix.Mix for tokens of up to eight bytes
)
