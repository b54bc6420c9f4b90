// Package dedup decides whether two texts say the same thing. It is pure: text
// in, verdict out, no network, disk, clock or log.
//
// To judge texts as they come, each against those before it:
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
// A text becomes a sequence of tokens ([Text]), the sequence a set of shingles ([Set]), the set a
// sketch of 84 minima ([Sketch]), and the sketch a few keys ([Scheme.Keys]) under which pages that
// resemble it are likely to stand in an index. What the index offers is judged by exact resemblance
// ([Rule.Judge]): the sketch only chooses whom to compare, it never decides.
//
// The method is Broder's ("On the resemblance and containment of documents",
// 1997; Broder, Glassman, Manasse and Zweig, "Syntactic clustering of the Web",
// 1997), with the super- and mega-shingles of Fetterly, Manasse and Najork
// (2003) in the numbers that Zelenkov and Segalovich compared for Russian pages
// (2007): 84 functions, six super-shingles of 14, fifteen mega-shingles of two.
//
// Besides the judgement of a crawl it has every measure of the literature
// ([Compare]), the passages two texts share ([Passages]), the published systems by
// name ([Profiles]), clusters over all pages ([Clusters]), and the search for the
// form, shingle and threshold that fit labelled pairs ([Tune]).
//
// What it refuses to do: judge meaning. A translation, a summary or a thorough
// rewrite shares no shingles with its source, and is unique.
package dedup

// Versions of what is stored. A change of any value that the code computes for
// some text must change the number: a store of another version is refused, since
// its sketches cannot be compared with ours.
const (
	TokenizerVersion = 1
	SketchVersion    = 2 // 1 hashed every token by xxh3; now short ones are mixed
)
