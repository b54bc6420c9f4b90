package complete

// A progress reports how much of a comparison is done. The comparison has steps, which are assumed
// to take equally long: the texts are counted, joined and clustered, then the boilerplate of hosts
// is learned, and the remaining texts are counted, joined and clustered again.
type progress struct {
	tell  func(share float64) // receives the share that is done, from 0 to 1; nil: no reports
	steps int                 // number of steps that have begun
}

const (
	allSteps  = 7
	tellEvery = 256 // parts of a step
)

// next begins the next step, which has n parts. Call the returned function with the number of parts
// that are done, which must not decrease. It reports the progress now and then.
func (p *progress) next(n int) func(done int) {
	p.steps++
	step, due := p.steps, 0
	return func(done int) {
		if p.tell != nil && done >= due {
			due = done + tellEvery
			p.tell((float64(step-1) + float64(done)/float64(max(n, 1))) / allSteps)
		}
	}
}
