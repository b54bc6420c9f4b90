package complete

// A progress reports how much of a comparison is done. All steps are assumed to take the same time.
// The shingles of the texts are counted and indexed, and the texts are joined.
type progress struct {
	tell  func(share float64) // called with the completed share, from 0 to 1; may be nil
	all   int
	steps int // number of begun steps; steps beyond the last count as the last
	last  float64
}

const (
	allSteps       = 3
	containedSteps = 4   // number of steps if the rule is containment
	tellEvery      = 256 // number of parts of a step between two reports
)

// next begins the next step, which has n parts. It returns a function that reports progress,
// given the number of parts done so far. That number must not decrease.
func (p *progress) next(n int) func(done int) {
	p.steps = min(p.steps+1, p.all)
	step, due := p.steps, 0
	return func(done int) {
		if p.tell != nil && done >= due {
			due = done + tellEvery
			p.last = max(p.last, (float64(step-1)+float64(done)/float64(max(n, 1)))/float64(p.all))
			p.tell(p.last)
		}
	}
}
