package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

var errTimedOut = errors.New("the function took longer than 29 s")

// invoke calls a function as the platform does: nothing but bytes and a deadline reaches it,
// and it goes on if the client leaves. One that ignores its deadline is left behind.
func invoke(fn Function, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), IntegrationTimeout)
	defer cancel()
	type result struct {
		answer []byte
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := recovered(ctx, fn, payload)
		done <- result{answer, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() != nil {
			return nil, errors.Join(errTimedOut, r.err)
		}
		return r.answer, r.err
	case <-ctx.Done():
		return nil, errTimedOut
	}
}

// recovered turns a panic into an error, as the Lambda runtime does.
func recovered(ctx context.Context, fn Function, payload []byte) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("the function panicked: %v", p)
		}
	}()
	return fn.Invoke(ctx, payload)
}

// integrate calls the route's function and reads its answer.
func (g *gateway) integrate(x *exchange, body []byte) (reply, *failure) {
	if leastEncoded(body) > MaxPayloadBytes {
		return reply{}, tooLarge() // without making an event of several times its size first
	}
	event, err := g.functionEvent(x, body)
	if err != nil {
		return reply{}, badGateway(err)
	}
	if len(event) > MaxPayloadBytes {
		return reply{}, tooLarge() // Lambda refuses the event, and says 413 itself
	}
	answer, err := invoke(x.route.Function, event)
	if errors.Is(err, errTimedOut) {
		return reply{}, &failure{kind: IntegrationTimedOut, status: http.StatusGatewayTimeout, cause: err}
	}
	if err != nil {
		return reply{}, badGateway(err)
	}
	out, err := decodeReply(answer)
	if err != nil {
		return reply{}, badGateway(err)
	}
	return out, nil
}

func badGateway(err error) *failure {
	return &failure{kind: IntegrationFailure, status: http.StatusBadGateway, cause: err}
}
