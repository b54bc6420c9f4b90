package complete

// A progress says how far the work on a whole has come. The work has steps, which are taken for
// equally long: the texts are counted, joined and clustered; what hosts repeat is learned; and what
// is left of the texts is counted, joined and clustered again.
type progress struct {
	tell  func(share float64) // nil: nobody wants to know
	steps int                 // begun so far
}

const (
	allSteps  = 7
	tellEvery = 256 // parts of a step
)

// next begins the next step, which has n parts. What it returns is called with how many are done,
// which never become fewer, and tells that now and then.
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
