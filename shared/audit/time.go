package audit

import (
	"context"
	"time"
)

// A call that runs out of time, or whose caller goes away, is recorded all the same. So whoever
// acts for a call acts within BeforeRecording, and records within Recording.

const (
	// recordFor is the time that recording has at least, in seconds, even past the call's own.
	recordFor = 2 * time.Second
	// answerFor is what is left of the call's time for its answer.
	answerFor = 250 * time.Millisecond
)

// BeforeRecording bounds what is done for a call, so that there is time to record its outcome: it
// takes two seconds off the deadline, at most half of what is left.
func BeforeRecording(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(recordFor, time.Until(deadline)/2)))
}

// Recording bounds the recording of a call, with the call's context as it came in. It has all
// that is left of the call's time, and two seconds at least; that the caller has gone ends it
// not.
func Recording(ctx context.Context) (context.Context, context.CancelFunc) {
	left := recordFor
	if deadline, ok := ctx.Deadline(); ok {
		left = max(left, time.Until(deadline)-answerFor)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), left)
}
