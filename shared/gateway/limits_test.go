package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aacworkflow/mcp-connector/shared/gateway"
)

// endless is a body that counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestLargeBodies(t *testing.T) {
	fn := &seen{answer: answers(fine)}
	h := serve(t, api(allow, fn))
	if res := do(h, request("POST", "/tools/x", strings.Repeat("x", 5<<20))); res.StatusCode != 200 || len(fn.events) != 1 {
		t.Fatalf("5 MB: %d", res.StatusCode)
	}
	wantProblem(t, "over what Lambda takes", do(h, request("POST", "/tools/x", strings.Repeat("x", 6<<20))), 413, "payload_too_large")

	announced, body := request("POST", "/tools/x", ""), &endless{}
	announced.Body, announced.ContentLength = body, gateway.MaxBodyBytes+1
	wantProblem(t, "announced", do(h, announced), 413, "payload_too_large")
	if body.read != 0 {
		t.Errorf("announced: read %d bytes of it", body.read)
	}
	chunked := request("POST", "/tools/x", "")
	chunked.Body, chunked.ContentLength = body, -1
	wantProblem(t, "chunked", do(h, chunked), 413, "payload_too_large")
	if body.read < gateway.MaxBodyBytes || body.read > 2*gateway.MaxBodyBytes {
		t.Errorf("chunked: read %d bytes of it", body.read)
	}
	if len(fn.events) != 1 {
		t.Errorf("the function ran %d times", len(fn.events))
	}
}

// Control characters take six bytes each in an event. What cannot fit is refused before it is
// written out, or a few such bodies at once would take all memory.
func TestABodyThatGrowsIsNotWrittenOut(t *testing.T) {
	fn := &seen{answer: answers(fine)}
	h := serve(t, api(allow, fn))
	r := request("POST", "/tools/x", strings.Repeat("\x01", 9<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := do(h, r)
	runtime.ReadMemStats(&after)
	wantProblem(t, "control characters", res, 413, "payload_too_large")
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 {
		t.Errorf("refusing 9 MB took %d MB", used)
	}
	if res := do(h, request("POST", "/tools/x", strings.Repeat("\x01", 1<<20-1024))); res.StatusCode != 200 || len(fn.events) != 1 {
		t.Errorf("just under 6 MB when written out: %d", res.StatusCode)
	}
}

func TestABodyIsNotReadBeforeTheCallerIsKnown(t *testing.T) {
	for name, authorizer := range map[string]function{"401": fails("Unauthorized"), "403": policy(`{}`, "Deny", "*"), "500": fails("x")} {
		body := &endless{}
		r := request("POST", "/tools/x", "")
		r.Body, r.ContentLength = body, -1
		if res := do(serve(t, api(authorizer, answers(fine))), r); fmt.Sprint(res.StatusCode) != name || body.read != 0 {
			t.Errorf("%s: %d after %d bytes", name, res.StatusCode, body.read)
		}
	}
}

func TestABrokenBody(t *testing.T) {
	r := request("POST", "/tools/x", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader("{"), brokenReader{}))
	wantProblem(t, "broken", do(serve(t, api(allow, answers(fine))), r), 400, "invalid_request")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestLargeHeaders(t *testing.T) {
	auth := &seen{answer: allow}
	h := serve(t, api(auth, answers(fine)))
	used := len("POST/tools/xHostexample.comAuthorizationBearer secretX")
	r := request("POST", "/tools/x", "")
	r.Header.Set("X", strings.Repeat("v", gateway.MaxHeaderBytes-used))
	if res := do(h, r); res.StatusCode != 200 {
		t.Errorf("largest: %d", res.StatusCode)
	}
	r.Header.Add("X", "")
	wantProblem(t, "one byte more", do(h, r), http.StatusRequestHeaderFieldsTooLarge, "invalid_request")
	if len(auth.events) != 1 {
		t.Errorf("the authorizer was asked %d times", len(auth.events))
	}
}

func TestLargeAnswers(t *testing.T) {
	answer := func(n int) function {
		const frame = `{"statusCode":200,"body":""}`
		return answers(frame[:len(frame)-2] + strings.Repeat("x", n-len(frame)) + frame[len(frame)-2:])
	}
	if res := do(serve(t, api(allow, answer(gateway.MaxPayloadBytes))), request("POST", "/tools/x", "")); res.StatusCode != 200 {
		t.Errorf("largest: %d", res.StatusCode)
	}
	res := do(serve(t, api(allow, answer(gateway.MaxPayloadBytes+1))), request("POST", "/tools/x", ""))
	wantProblem(t, "one byte more", res, http.StatusBadGateway, "internal")
}

// The tests below run in time that is made up: 29 s pass at once.

func TestTimeouts(t *testing.T) {
	obedient := function(func(ctx context.Context, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for name, want := range map[string]struct {
		authorizer, fn function
		status         int
	}{
		"function": {allow, obedient, http.StatusGatewayTimeout}, "authorizer": {obedient, answers(fine), http.StatusInternalServerError},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			res := do(serve(t, api(want.authorizer, want.fn)), request("POST", "/tools/x", ""))
			wantProblem(t, name, res, want.status, "internal")
			if took := time.Since(began); took != gateway.IntegrationTimeout {
				t.Errorf("%s: took %s", name, took)
			}
		})
	}
}

func TestAFunctionThatIgnoresItsDeadlineIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var finished atomic.Bool
		stubborn := function(func(context.Context, []byte) ([]byte, error) {
			time.Sleep(2 * gateway.IntegrationTimeout)
			finished.Store(true)
			return []byte(fine), nil
		})
		res := do(serve(t, api(allow, stubborn)), request("POST", "/tools/x", ""))
		wantProblem(t, "stubborn", res, http.StatusGatewayTimeout, "internal")
		if finished.Load() {
			t.Error("waited for it")
		}
		time.Sleep(2 * gateway.IntegrationTimeout)
		synctest.Wait()
		if !finished.Load() {
			t.Error("stopped it")
		}
	})
}

func TestAFunctionGoesOnWithoutItsClient(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	var inside error
	fn := function(func(ctx context.Context, _ []byte) ([]byte, error) {
		leave()
		inside = ctx.Err()
		return []byte(fine), nil
	})
	w := httptest.NewRecorder()
	serve(t, api(allow, fn)).ServeHTTP(w, request("POST", "/tools/x", "").WithContext(ctx))
	if inside != nil || w.Code != 200 {
		t.Errorf("%v, %d", inside, w.Code)
	}
}
