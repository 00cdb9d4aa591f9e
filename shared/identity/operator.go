package identity

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/aacworkflow/mcp-connector/shared/fault"
)

// An operator acts on the tables from outside the tracker (infra/admin). What lets them do so
// is their access to the tables, so the name is what they say of themselves.
const (
	operatorPrefix = "operator:"
	// NoToken stands in place of a token id: an operator has none.
	NoToken = "-"
)

var operatorName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`) })

// Operator is the principal of an operator in one workspace. It carries no scope, so that no
// tool can ever run for it, and its UserID can be no member's, for those are UUIDs.
//   - fault.Invalid: invalid_arguments, for a name not of 1 to 64 letters, digits and . _ @ + -
func Operator(workspaceID, name string) (*Principal, error) {
	if !operatorName().MatchString(name) {
		return nil, fault.New(fault.Invalid, fault.InvalidArguments, fmt.Sprintf(
			"operator: say who acts in 1 to 64 letters, digits and %s, a letter or digit first", `. _ @ + -`)).With("field", "operator")
	}
	return &Principal{WorkspaceID: workspaceID, UserID: operatorPrefix + name, TokenID: NoToken, Name: name}, nil
}
