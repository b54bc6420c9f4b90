package complete

// A progress reports how much of a comparison is done. The steps of a comparison are assumed to
// take equally long. First the whole texts are counted, joined and clustered. Then the boilerplate
// of hosts is found, and the texts without it are counted, joined and clustered again.
type progress struct {
	tell  func(share float64) // receives the share that is done, from 0 to 1; nil if nobody asked for reports
	steps int                 // number of steps that have begun
}

const (
	allSteps  = 7
	tellEvery = 256 // number of parts of a step that are done between two reports
)

// next begins the next step, which has n parts. The caller passes the number of parts that are done
// to the returned function. This number must not decrease. The function reports the progress now
// and then.
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
