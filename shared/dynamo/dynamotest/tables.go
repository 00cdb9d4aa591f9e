package dynamotest

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/aacworkflow/mcp-connector/shared/dynamo"
	"github.com/aacworkflow/mcp-connector/shared/dynamo/schema"
	"github.com/aacworkflow/mcp-connector/shared/table"
)

// CreateTables makes the tables as package schema describes them.
func CreateTables(ctx context.Context, api *dynamodb.Client, tables dynamo.Tables) error {
	conn := dynamo.Conn{Tables: tables}
	for _, name := range []table.Name{table.Data, table.Audit} {
		in := definition(schema.For(name))
		in.TableName = conn.Table(name)
		if _, err := api.CreateTable(ctx, in); err != nil {
			return fmt.Errorf("create table %s: %w", name, err)
		}
	}
	return nil
}

func definition(t schema.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            keySchema(t.PK, t.SK),
		AttributeDefinitions: []types.AttributeDefinition{text(t.PK), text(t.SK)},
	}
	for _, index := range t.Indexes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, text(index.PK), text(index.SK))
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(index.Name),
			KeySchema:  keySchema(index.PK, index.SK),
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		})
	}
	return in
}

func keySchema(pk, sk string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
	}
}

func text(name string) types.AttributeDefinition {
	return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS}
}
