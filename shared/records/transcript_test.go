package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/dynamo/dynamotest"
	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// Nothing that the store answers may hang on the engine below it, nor on chance: not on the ids
// drawn, not on the order of a map. The ids of the two runs differ.
func TestBothEnginesAnswerAlike(t *testing.T) {
	local := trackertest.Transcript(t, openFixture(t), 28, 500)
	remote := trackertest.Transcript(t, dynamoFixture(t, dynamotest.Start(t)), 28, 500)
	if diff := cmp.Diff(local, remote); diff != "" {
		t.Errorf("DynamoDB answered otherwise than the file (-file +DynamoDB):\n%s", diff)
	}
}
