// Package seed fills the tables of a DynamoDB on this machine with the demo data, and says in a
// file who may call: what local mode does at its first start, for the stand-ins of AWS.
//
// It is never for tables in AWS: Client reaches the endpoint that it is given, with credentials
// that are none. Start with Demo.
package seed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/uuid"

	"github.com/aacworkflow/mcp-connector/functions/local/demo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/writer"
	"github.com/aacworkflow/mcp-connector/shared/identity/token"
	"github.com/aacworkflow/mcp-connector/shared/records"
)

// Region and Key are what the stand-ins are called with: they ask for some, and look at none.
const (
	Region = "eu-west-1"
	Key    = "test" // the id of the access key, and its secret
)

// Client returns a client of the DynamoDB at the endpoint.
func Client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: Region, BaseEndpoint: aws.String(endpoint),
		Credentials: credentials.NewStaticCredentialsProvider(Key, Key, ""),
		APIOptions:  []func(*middleware.Stack) error{dynamo.PlainBody},
	})
}

// Access is who may call a seeded system.
type Access struct {
	// Tokens are the secrets by the keys of the demo data: reader, editor, owner, outsider.
	Tokens map[string]string
	issued []issued
}

type issued struct {
	demo.Grant
	secret string
}

// Demo loads the demo data into empty tables and issues its tokens.
func Demo(ctx context.Context, conn dynamo.Conn, now time.Time) (Access, error) {
	tables := writer.Open(conn)
	for _, snapshot := range demo.Snapshots(now) {
		if err := records.Load(ctx, tables, snapshot); err != nil {
			return Access{}, fmt.Errorf("load the demo data of %s: %w", snapshot.Workspace.Name, err)
		}
	}
	access := Access{Tokens: map[string]string{}}
	for _, g := range demo.Grants() {
		t, _, err := token.Issue(ctx, tables, token.Grant{
			ID: uuid.Must(uuid.NewV7()).String(), WorkspaceID: string(g.WorkspaceID), UserID: string(g.UserID),
			Name: g.Name, Scopes: g.Scopes, Lifetime: token.MaxLifetime, At: now,
		})
		if err != nil {
			return Access{}, fmt.Errorf("issue the token of %s: %w", g.Holder, err)
		}
		access.issued = append(access.issued, issued{g, t.Secret()})
		if g.Key != "" {
			access.Tokens[g.Key] = t.Secret()
		}
	}
	return access, nil
}

// WriteFile writes a local.json for the system at the URL, as local mode writes its own, for
// nobody else to read. Its directory is made.
func (a Access) WriteFile(path, url string) error {
	b, err := json.MarshalIndent(struct {
		URL         string            `json:"url"`
		MCPURL      string            `json:"mcp_url"`
		WorkspaceID string            `json:"workspace_id"`
		Tokens      map[string]string `json:"tokens"`
	}{url, url + "/mcp", string(demo.WorkspaceID()), a.Tokens}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err // one that is there may have another mode
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// Print lists whose tokens there are.
func (a Access) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range a.issued {
		what := fmt.Sprintf("%s, %s, %d scopes", t.Holder, t.Role, len(t.Scopes))
		if t.WorkspaceID != demo.WorkspaceID() {
			what += ", another workspace"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", t.Key, what, t.secret)
	}
	return table.Flush()
}
