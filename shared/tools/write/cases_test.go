package write_test

import (
	"testing"

	"github.com/aacworkflow/mcp-connector/shared/tool"
	"github.com/aacworkflow/mcp-connector/shared/tools/toolstest"
)

func TestCases(t *testing.T) {
	toolstest.Run(t, "testdata", func(d *tool.Definition) bool { return d.Effect != tool.Reads })
}
