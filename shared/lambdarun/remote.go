package lambdarun

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/aacworkflow/mcp-connector/shared/tool"
)

// LambdaInvoker reaches the tools' functions through the AWS Lambda API. functions holds the
// name or ARN of the function of each tool; a tool without one is an error.
func LambdaInvoker(cfg aws.Config, functions map[string]string) tool.Invoker {
	client := lambda.NewFromConfig(cfg, func(o *lambda.Options) {
		// Never a second try: a call whose answer was lost may have happened, and not every
		// tool may happen twice.
		o.Retryer = aws.NopRetryer{}
	})
	return InvokerOver(func(ctx context.Context, name string, payload []byte) ([]byte, error) {
		function, ok := functions[name]
		if !ok {
			return nil, fmt.Errorf("no function is known for the tool: add it to %s", envToolFunctions)
		}
		out, err := client.Invoke(ctx, &lambda.InvokeInput{
			FunctionName: aws.String(function), InvocationType: types.InvocationTypeRequestResponse, Payload: payload,
		})
		if err != nil {
			return nil, err
		}
		if out.FunctionError != nil {
			return nil, fmt.Errorf("the function failed (%s, %s): see its log", *out.FunctionError, errorType(out.Payload))
		}
		return out.Payload, nil
	})
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
