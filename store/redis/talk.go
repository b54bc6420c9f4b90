package redis

import (
	"context"

	"github.com/redis/rueidis"
)

// A talk is what somebody has to ask the servers, in as many round trips as it takes.
type talk interface {
	// next is what is to be sent in the next trip; nothing, once the talk has ended.
	next() []rueidis.Completed
	// hear takes the answers to that.
	hear([]rueidis.RedisResult) error
}

// hold holds some talks at once: what they send goes together, and nobody waits for one of them
// alone. It ends with the first error, for which the others may not have been heard.
func (c client) hold(ctx context.Context, talks ...talk) error {
	sends := make([]int, len(talks))
	for {
		var cmds []rueidis.Completed
		for i, t := range talks {
			before := len(cmds)
			cmds = append(cmds, t.next()...)
			sends[i] = len(cmds) - before
		}
		if len(cmds) == 0 {
			return nil
		}
		results := c.do(ctx, cmds...)
		for i, t := range talks {
			if sends[i] == 0 {
				continue
			}
			if err := t.hear(results[:sends[i]]); err != nil {
				return err
			}
			results = results[sends[i]:]
		}
	}
}

// A remark is a talk of one command.
type remark struct {
	cmd   rueidis.Completed
	said  bool
	heard func(rueidis.RedisResult) error
}

func (r *remark) next() []rueidis.Completed {
	if r.said {
		return nil
	}
	r.said = true
	return []rueidis.Completed{r.cmd}
}

func (r *remark) hear(results []rueidis.RedisResult) error { return r.heard(results[0]) }

// noError is what a remark hears that only wants to be done.
func noError(result rueidis.RedisResult) error {
	return firstError([]rueidis.RedisResult{result})
}
