package records

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aacworkflow/mcp-connector/shared/tracker/trackertest"
)

// Nothing that the store answers may hang on chance: not on the ids drawn, not on the order of
// a map. The ids of the two runs differ.
func TestEqualCallsHaveEqualAnswers(t *testing.T) {
	first := trackertest.Transcript(t, openFixture(t), 28, 500)
	second := trackertest.Transcript(t, openFixture(t), 28, 500)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second run answered otherwise (-first +second):\n%s", diff)
	}
}
