package lambdarun_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/aacworkflow/mcp-connector/shared/identity"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/lambdarun/remote"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// lambdaAPI stands for the AWS Lambda API: one function, run in process.
type lambdaAPI struct {
	function lambdarun.Handler
	status   int
	calls    int
}

func (a *lambdaAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.calls++
	payload, err := io.ReadAll(r.Body)
	if err != nil || r.Method != "POST" || r.URL.Path != "/2015-03-31/functions/EchoFunction/invocations" || r.Header.Get("X-Amz-Invocation-Type") != "RequestResponse" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
		return
	}
	answer, err := a.function.Invoke(r.Context(), payload)
	if err != nil {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		_, _ = fmt.Fprintf(w, `{"errorMessage":%q,"errorType":"errorString"}`, err)
		return
	}
	_, _ = w.Write(answer)
}

func (a *lambdaAPI) invoker(t *testing.T) tool.Invoker {
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return remote.Invoker(aws.Config{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}, map[string]string{"echo": "EchoFunction"})
}

func TestLambdaInvoker(t *testing.T) {
	w := newWorld(t)
	api := &lambdaAPI{function: lambdarun.Tool(w.bound(), w.logger())}
	reply, err := api.invoker(t).Invoke(context.Background(), "echo", tool.Request{
		Principal: principal(identity.IssuesWrite), Arguments: []byte(`{"text":"a","confirm":true}`), CallID: "call-1",
	})
	if err != nil || string(reply.Value) != `{"text":"a"}` || w.oneEvent().CallID != "call-1" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A call may have happened although its answer was lost, so nothing is tried twice.
func TestLambdaInvokerTriesOnce(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503} {
		api := &lambdaAPI{status: status}
		if reply, err := api.invoker(t).Invoke(context.Background(), "echo", tool.Request{}); err == nil || api.calls != 1 {
			t.Errorf("status %d: %+v, %v after %d calls", status, reply, err, api.calls)
		}
	}
}

// What Lambda refuses has not run, and what has died has not recorded: the front does. After
// anything else the tool may have recorded the call already.
func TestLambdaInvokerTellsWhatIsNotRecorded(t *testing.T) {
	for status, want := range map[int]bool{400: true, 403: true, 404: true, 413: true, 429: true, 500: false, 502: true, 503: false, 504: false} {
		api := &lambdaAPI{status: status}
		_, err := api.invoker(t).Invoke(context.Background(), "echo", tool.Request{})
		var unrecorded *tool.Unrecorded
		if errors.As(err, &unrecorded) != want {
			t.Errorf("status %d: %v, want unrecorded %v", status, err, want)
		}
	}
	var unrecorded *tool.Unrecorded
	if _, err := (&lambdaAPI{}).invoker(t).Invoke(context.Background(), "unheard_of", tool.Request{}); !errors.As(err, &unrecorded) {
		t.Errorf("a tool without a function: %v", err)
	}
	died := &lambdaAPI{function: func(context.Context, []byte) ([]byte, error) { return nil, errors.New("died") }}
	if _, err := died.invoker(t).Invoke(context.Background(), "echo", tool.Request{}); !errors.As(err, &unrecorded) {
		t.Errorf("a function that failed: %v", err)
	}
}

func TestLambdaInvokerFunctionError(t *testing.T) {
	api := &lambdaAPI{function: func(context.Context, []byte) ([]byte, error) { return nil, fmt.Errorf("secret") }}
	_, err := api.invoker(t).Invoke(context.Background(), "echo", tool.Request{})
	if err == nil || !strings.Contains(err.Error(), "Unhandled, errorString") || strings.Contains(err.Error(), "secret") || api.calls != 1 {
		t.Errorf("%v after %d calls", err, api.calls)
	}
}

func TestLambdaInvokerWithoutFunction(t *testing.T) {
	api := &lambdaAPI{}
	if _, err := api.invoker(t).Invoke(context.Background(), "drop_all", tool.Request{}); err == nil || api.calls != 0 {
		t.Errorf("%v after %d calls", err, api.calls)
	}
}
