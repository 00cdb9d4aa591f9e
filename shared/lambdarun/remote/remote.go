// Package remote reaches tools in functions of their own, through the AWS Lambda API. It is apart
// from lambdarun so that only the program that calls other functions links that API: what it
// prepares at the start costs every cold start of a program a millisecond and more.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/aacworkflow/mcp-connector/shared/lambdarun"
	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// Invoker calls the tools' functions. functions holds the name or ARN of the function of each
// tool; a tool without one is an error.
func Invoker(cfg aws.Config, functions map[string]string) tool.Invoker {
	client := lambda.NewFromConfig(cfg, func(o *lambda.Options) {
		// Never a second try: a call whose answer was lost may have happened, and not every
		// tool may happen twice.
		o.Retryer = aws.NopRetryer{}
	})
	return lambdarun.InvokerOver(func(ctx context.Context, name string, payload []byte) ([]byte, error) {
		function, ok := functions[name]
		if !ok {
			return nil, &tool.Unrecorded{Err: fmt.Errorf("no function is known for the tool: add it to %s", lambdarun.ToolFunctions)}
		}
		out, err := client.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: aws.String(function), InvocationType: types.InvocationTypeRequestResponse, Payload: payload,
		})
		if err != nil {
			return nil, recorded(err)
		}
		if out.FunctionError != nil {
			// It answers what it can record, so this one has died, or could not read its input.
			return nil, &tool.Unrecorded{Err: fmt.Errorf("the function failed (%s, %s): see its log", *out.FunctionError, errorType(out.Payload))}
		}
		return out.Payload, nil
	})
}

// recorded tells a refusal of Lambda's own, such as a throttle or a missing right, from a failure
// after which the function may have run. Source: AWS Lambda API, Invoke, errors: what is answered
// with 4xx has not been invoked, and 502 tells why it could not be started.
func recorded(err error) error {
	var answered *smithyhttp.ResponseError
	if !errors.As(err, &answered) {
		return err
	}
	if status := answered.HTTPStatusCode(); status >= 400 && status < 500 || status == http.StatusBadGateway {
		return &tool.Unrecorded{Err: err}
	}
	return err
}

// errorType reads what kind of failure Lambda reports. The message beside it stays where it was
// written.
func errorType(payload []byte) string {
	var report struct {
		Type string `json:"errorType"`
	}
	if err := json.Unmarshal(payload, &report); err != nil || report.Type == "" {
		return "of no type"
	}
	return report.Type
}
