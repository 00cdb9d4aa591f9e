package dynamo

import (
	"context"
	"io"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// PlainBody is an API option (aws.Config.APIOptions) that keeps a fast answer from tearing its
// own connection down. Every client of the AWS SDK that we make has it.
//
// The SDK closes the body of a request as soon as the answer's head is there. Go's HTTP client
// may at that moment still be asking the body for more, to be sure of its end; a body with a
// WriteTo method then answers io.EOF as an error (smithy-go 1.28.9, safeWriteToReadCloser), and
// the connection is closed while the answer is being read: "deserialization failed, … use of
// closed network connection". It takes an engine on the same machine, or a process that was
// paused for a moment, as a small function often is. A body that can only be read answers
// io.EOF as it should.
func PlainBody(stack *middleware.Stack) error {
	return stack.Build.Add(middleware.BuildMiddlewareFunc("PlainBody", plainBody), middleware.Before)
}

func plainBody(ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler) (middleware.BuildOutput, middleware.Metadata, error) {
	if req, ok := in.Request.(*smithyhttp.Request); ok {
		if body, ok := req.GetStream().(io.ReadSeeker); ok {
			plain, err := req.SetStream(struct{ io.ReadSeeker }{body})
			if err != nil {
				return middleware.BuildOutput{}, middleware.Metadata{}, err
			}
			in.Request = plain
		}
	}
	return next.HandleBuild(ctx, in)
}
