// Package dynamo is what the DynamoDB engines reader, appender and writer share: the
// connection, the form of an item, and the meaning of an error.
//
// It calls no operation of DynamoDB itself, so that a program holds exactly the operations of
// the engines it links. Start with Connect here; item.go is the form, failure.go the errors,
// and package schema the tables.
package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/aacworkflow/mcp-connector/shared/table"
)

// Tables are the names of the two tables in AWS. A program that does not use one of them may
// leave it empty.
type Tables struct {
	Data  string // setting AAC_DATA_TABLE
	Audit string // setting AAC_AUDIT_TABLE
}

// Conn is a connection to the tables. Make one for a program and hand it to all its engines:
// they then share connections and credentials.
type Conn struct {
	API    *dynamodb.Client
	Tables Tables
}

// Connect makes a connection. Region, endpoint, credentials and retries are those of the AWS
// SDK's standard configuration (environment, shared files, the function's role), and nothing
// else. No request is sent yet.
func Connect(ctx context.Context, tables Tables) (Conn, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return Conn{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	cfg.APIOptions = append(cfg.APIOptions, PlainBody)
	return Conn{API: dynamodb.NewFromConfig(cfg), Tables: tables}, nil
}

// Table returns the name of a table in AWS.
func (c Conn) Table(name table.Name) *string {
	if name == table.Audit {
		return &c.Tables.Audit
	}
	return &c.Tables.Data
}
