package lambdarun_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
)

// TestWidget: the answer is a text as JSON, the function knows its own address, and what goes wrong
// is an error and in the log.
func TestWidget(t *testing.T) {
	for name, tt := range map[string]struct {
		serve lambdarun.WidgetFunc
		want  string
		fails string
	}{
		"HTML": {func(_ context.Context, endpoint string, event []byte) (string, error) {
			return "<p>" + endpoint + string(event) + "</p>", nil
		}, `"\u003cp\u003earn:x{\"describe\":true}\u003c/p\u003e"`, ""},
		"an error": {func(context.Context, string, []byte) (string, error) { return "", errors.New("no event") }, "", "no event"},
		"a panic":  {func(context.Context, string, []byte) (string, error) { panic("oops") }, "", "panic: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{InvokedFunctionArn: "arn:x"})
			got, err := lambdarun.Widget(tt.serve, slog.New(slog.NewTextHandler(&log, nil)))(ctx, []byte(`{"describe":true}`))
			if string(got) != tt.want || (err != nil) != (tt.fails != "") {
				t.Errorf("%s, %v", got, err)
			}
			if !strings.Contains(log.String(), tt.fails) {
				t.Errorf("the log does not say %s: %s", tt.fails, log.String())
			}
		})
	}
}
