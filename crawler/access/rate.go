package access

import "time"

// A Rate is a budget of requests for a period. The requests are spread over the period, so the budget is
// a minimum time between two requests. The zero Rate means no limit.
type Rate struct {
	N   int64
	Per time.Duration
}

// Every returns the minimum time between two requests; 0 means no limit.
func (r Rate) Every() time.Duration {
	if r.N <= 0 {
		return 0
	}
	return (r.Per + time.Duration(r.N-1)) / time.Duration(r.N)
}
