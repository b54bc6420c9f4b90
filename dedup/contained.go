package dedup

import (
	"math"
	"slices"

	"skink/base/splitmix"
)

// # Excerpts
//
// A paragraph of a long page has a containment of 1 in that page, but a low resemblance to it, so
// the two are unlikely to share a band. With [Rule.Contained], an index uses other keys: sampled
// runs of six words (Broder, "On the resemblance and containment of documents", 1997). A run is
// sampled if its hash is below a limit. The limit is the same for all texts, so a run that is
// sampled in an excerpt is also sampled in its source. The samples of a source cover all its parts
// equally, so they find an excerpt from any part.
//
// A leader is stored under all its samples. A page is looked up by only some of its samples, those
// with the lowest hashes, because a few dozen of them suffice. A leader is a candidate if it has at
// least half of the samples that a source is expected to have. The exact containment then decides,
// starting with the leader that shares the most samples. So every verdict is right, and only the
// recall depends on the samples.
//
// The limit depends on the rule. Containment is measured in runs of three words, because a changed
// word breaks only three of them. It breaks six runs of six words. So if a source has the share c
// of a page's runs of three words, it is expected to have c² of the runs of six words. The limit is
// chosen for a page of [Rule.MinWords] words, or of fifty if that is more: the probability that it
// shares no sample with its source is half a percent. For longer pages the probability quickly
// becomes negligible. At c = .95, this samples an eighth of all runs.
//
// Runs of six words were chosen because few unrelated texts share them. Runs of three words are
// more robust, but many of them ("one of the") occur in thousands of pages.
//
// Known weaknesses: at a low [Rule.Contained], an excerpt in which every sixth word is changed may
// share no run of six words with its source. A text of more than some 65,000 words has only
// [maxSamples] samples, so some short excerpts from it are missed. If more than [MaxPosting]
// leaders have the same sample, the latest of them are not read; see [Met].
const (
	sampledRun   = 2 * containedRun
	unsampled    = 0.005   // probability that the shortest page shares no sample with its source
	askedSamples = 32      // number of looked-up samples that a source is expected to have
	maxSamples   = 1 << 13 // maximum number of samples under which a text is stored
)

// Keys appends to dst the keys under which an index stores the text of a leader. sketch is the
// sketch of t, which must be canonical under this rule.
func (r Rule) Keys(dst []uint64, t *Text, sketch *Sketch) []uint64 {
	if r.Contained == 0 {
		return r.Scheme.Keys(dst, sketch)
	}
	if t.Len() < sampledRun {
		return dst
	}
	samples := t.Shingles(t.shingles[:0], sampledRun)
	t.shingles = samples
	if share := r.sampling(); share < 1 {
		limit := uint64(math.Ldexp(share, 64))
		samples = slices.DeleteFunc(samples, func(x uint64) bool { return x >= limit })
	}
	samples = NewSet(samples)
	for _, x := range samples[:min(len(samples), maxSamples)] {
		dst = append(dst, splitmix.Mix(x)) // spread the keys over all 64-bit numbers, as an index expects
	}
	return dst
}

func (r Rule) sampling() float64 {
	shared := float64(max(r.MinWords, DefaultMinWords)-sampledRun+1) * r.survival()
	return -math.Expm1(math.Log(unsampled) / shared)
}

// survival returns the expected share of a page's runs of six words that its source also has.
func (r Rule) survival() float64 { return r.Contained * r.Contained }

// Asked returns the keys by which a page is looked up, and how many of them a leader must have to
// become a candidate. keys is the result of [Rule.Keys] for the page.
func (r Rule) Asked(keys []uint64) (asked []uint64, meet int) {
	if r.Contained == 0 {
		return keys, r.Scheme.Meet()
	}
	asked = keys[:int(min(float64(len(keys)), math.Ceil(askedSamples/r.survival())))]
	return asked, max(1, int(float64(len(asked))*r.survival()/2))
}
